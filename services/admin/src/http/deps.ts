import type { ProfileStore } from "@sluice/profile-store";
import type { Instruments, Log, OpenQueue } from "@sluice/stage-runtime";
import type { Clock } from "@sluice/zookeeper";
import type { History } from "../fleet/history.ts";
import type { Overviews } from "../fleet/overview.ts";
import type { JobIndex } from "../index/job-index.ts";
import type { ADMIN_METRICS } from "../metrics.ts";
import type { TokenEnds } from "../house/token-ends.ts";
import type { Archive } from "./archived.ts";
import type { Topics } from "./topics.ts";

export interface AdminDeps {
  /** The queue of the present session; null while there is none. */
  readonly queue: () => OpenQueue | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Instruments<typeof ADMIN_METRICS>;
  readonly index: JobIndex;
  readonly overviews: Overviews;
  readonly history: History;
  readonly profiles: Pick<ProfileStore, "get" | "names">;
  /** Of batches that have left the queue; null: there is none to ask. */
  readonly archive: Archive | null;
  readonly topics: Topics;
  readonly tokenEnds: TokenEnds;
  /** Where deposits for later are kept; null: nowhere. */
  readonly intakeUrl: string | null;
  readonly randomBytes: (size: number) => Buffer;
  readonly settings: AdminSettings;
}

export interface AdminSettings {
  readonly version: string;
  readonly workingDir: string;
  readonly outboxDir: string | null;
  readonly logsDir: string | null;
  /** Whose signatures below the audit count. */
  readonly auditKeysFile: string | null;
}
