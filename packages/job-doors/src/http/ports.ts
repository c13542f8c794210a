/** What the HTTP doors need of the rest of the process. */
import type { Errands } from "../bedrock/errands.ts";
import type { Hear } from "../heard.ts";
import type { WriteAudit } from "./audit.ts";
import type { Answer, BlobStore, Command, QueuePort, Reply, TakenView } from "@sluice/job-queue";
import type { Handler, HandlerSpec, JobWorker, QueueShard } from "@sluice/wire";

export interface TakenOfTenant extends TakenView {
  readonly tenant: string;
  readonly token: string;
}

export interface Taking {
  readonly worker: string;
  readonly tenants: "all" | readonly string[];
  /** Of "all", these not. */
  readonly without: readonly string[];
  readonly types?: readonly string[];
  readonly accepts?: (tenant: string, type: string) => boolean;
  readonly limit: number;
  readonly waitMs: number;
  readonly gone: AbortSignal;
}

/** `silence`: no answer of whoever keeps them. */
export interface HandlersPort {
  put(
    tenant: string,
    type: string,
    spec: HandlerSpec,
    by: string,
  ): Promise<
    | { readonly ok: true; readonly handler: Handler }
    | { readonly ok: false; readonly why: "no-answer" }
    | { readonly ok: false; readonly why: "invalid"; readonly detail: string }
  >;
  /** A name, or name@version. */
  get(tenant: string, type: string): Promise<Handler | null | "silence">;
  list(tenant: string): Promise<readonly Handler[] | "silence">;
  remove(tenant: string, type: string, by: string): Promise<readonly number[] | "silence">;
}

export interface JobPorts {
  readonly queue: QueuePort;
  /** A job for each payload, accepted when it is on our disk; the answer's ids are in their order. */
  readonly addLines: (
    jobtype: { readonly tenant: string; readonly name: string },
    payloads: readonly string[],
    /** The type that their results are left to. */
    onFinish?: string,
  ) => Promise<Reply>;
  readonly everyShard: (command: Command) => Promise<ReadonlyMap<number, Answer>>;
  readonly take: (asked: Taking) => Promise<readonly TakenOfTenant[]>;
  readonly shards: () => readonly QueueShard[];
  /** Null: no store, so nothing large either. */
  readonly blobs: BlobStore | null;
  readonly handlers: HandlersPort;
  /** Whether jobs of this type are for whoever runs handlers. */
  readonly isHandled: (tenant: string, type: string) => boolean;
  /** Null: no answer. */
  readonly workers: () => Promise<readonly JobWorker[] | null>;
  /** Aborts when this process is about to go: whoever waits for a job waits no longer. */
  readonly leaving: AbortSignal;
  /** Told of jobs that come, are taken, end and go. */
  readonly hear: Hear;
  /** Commands for whose answer nobody waits. */
  readonly errands: Errands;
  readonly audit: WriteAudit;
  readonly now: () => number;
}
