import type { Cases } from "../case.ts";
import { AGAIN } from "./again.ts";
import { CHANGE } from "./change.ts";
import { CREATE } from "./create.ts";
import { END } from "./end.ts";
import { GET } from "./get.ts";
import { PROTOCOL } from "./protocol.ts";
import { REPEAT } from "./repeat.ts";
import { STATES } from "./states.ts";

export const BEDROCK: Cases = {
  ...PROTOCOL,
  ...STATES,
  ...CREATE,
  ...GET,
  ...CHANGE,
  ...END,
  ...AGAIN,
  ...REPEAT,
};
