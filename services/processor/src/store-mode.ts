import type { Job } from "@sluice/queue-core";
import type { StoreMode } from "./store/object-store.ts";

export const modeOf = ({ configuration }: Job): StoreMode =>
  configuration.submission_mode.toLowerCase() === "update" ? "update" : "add";
