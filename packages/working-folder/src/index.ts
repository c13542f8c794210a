export { type ClaimFolder, MANIFEST_FILE, openWorkingFolder, type WorkingFolder } from "./working-folder.ts";
export { takeOver } from "./take-over.ts";
export { payloadFiles } from "./payload.ts";
export type { FileSource, PayloadConfiguration, PayloadFile, PayloadItem, PayloadProblem } from "./payload.ts";
export { eachAtMost, type WalkAnswer } from "./each-at-most.ts";
