import type { StorageUrl } from "@sluice/ingest-formats";
import type { Egress } from "@sluice/safe-io";
import { merrittReader } from "./merritt-reader.ts";
import { ocflReader } from "./ocfl-reader.ts";
import type { VersionReader } from "./version-reader.ts";

export const openReader = (url: StorageUrl, egress: Egress): VersionReader =>
  url.kind === "ocfl" ? ocflReader(url.folder) : merrittReader({ base: url.base, egress });
