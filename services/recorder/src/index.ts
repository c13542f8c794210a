/** For a recorder of one's own that shares parts with this one. The service itself is `main.ts`, as `sluice-recorder`. */
export { loadConfig, recorderConfig, type RecorderConfig } from "./config.ts";
export { countInventoryAway, RECORDER_METRICS } from "./metrics.ts";
export { type RecorderParts, recordingStage } from "./record.ts";
export { openReader } from "./stored/open-reader.ts";
export type { NotRead, ReadFor, ReadVersion, VersionReader } from "./stored/version-reader.ts";
