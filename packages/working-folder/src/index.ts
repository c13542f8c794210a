export {
  type ClaimFolder,
  CONTAINER_FOLDER,
  MANIFEST_FILE,
  openWorkingFolder,
  REJECTED_FOLDER,
  type WorkingFolder,
} from "./working-folder.ts";
export {
  type BatchFolder,
  type BatchFolders,
  hasUploads,
  listBatchFolders,
  openBatchFolders,
} from "./batch-folders.ts";
export {
  type AcceptedBatch,
  type AcceptedBatches,
  listAccepted,
  openAcceptedBatches,
  type ReadAccepted,
} from "./accepted.ts";
export {
  inlineManifestName,
  inlineManifestNames,
  inlineManifests,
  type Upload,
  uploadName,
  uploadNames,
  uploadsOf,
  uploadUrl,
} from "./uploads.ts";
export { takeOver } from "./take-over.ts";
export { filesToFetch, isContainer, payloadFiles } from "./payload.ts";
export type {
  FetchItem,
  FileOrigin,
  FileSource,
  FileToFetch,
  PayloadConfiguration,
  PayloadFile,
  PayloadItem,
  PayloadProblem,
} from "./payload.ts";
export { beginContents, CONTENTS_FILE, type ContentsList } from "./contents.ts";
export { eachAtMost, type WalkAnswer } from "./each-at-most.ts";
export { type MailMark, mailMarkFile, parseMailMark, printMailMark } from "./mail-marks.ts";
