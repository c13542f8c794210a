export { type Answer, readAnswer, type Refusal } from "./answer.ts";
export { type CallInput, type Client, type ClientOptions, makeClient, urlOf } from "./client.ts";
export type { EventsOf } from "./events.ts";
export { pause } from "./pause.ts";
