/**
 * How doors add jobs. The serverless door's adds always go through the journal: accepted means on our disk. Other adds go to
 * the owner, and to the journal only when they surely did not reach one; whose outcome is not known stays so, because the
 * same job under a second id would be run twice.
 */
import {
  birthProblem,
  type BlobStore,
  type Command,
  type CreateJobs,
  type Reply,
  type Status,
  STATUS,
} from "@sluice/job-queue";
import type { JobJournal } from "./job-journal.ts";
import type { JobJournals } from "./job-journals.ts";
import { withoutEnd } from "./batch-text.ts";
import { newJobOf, payloadOfJob } from "./new-jobs.ts";
import type { Outcome, TenantQueue } from "./queue.ts";
import type { Jobtype, Written } from "./types.ts";

export const ADD_STATUS = {
  full: { code: 503, text: "The journal is full" },
  notServed: { code: 503, text: "Nobody can number this job just now", retryAfterMs: 2_000 },
  /** As a caller understands it who may ask twice only for what is known: it may be on disk all the same. */
  disk: { code: 503, text: "Not known whether this was done: the journal cannot be written" },
} as const satisfies Record<string, Status>;

export interface JournaledAdds {
  /** A job for each payload; the ids are in their order. `onFinish`: the type that their results are left to. */
  addLines(jobtype: Jobtype, payloads: readonly (string | Uint8Array)[], onFinish?: string): Promise<Reply>;
  /** As the queue's own; CreateJob(s) that surely did not reach an owner are accepted in the journal. */
  route(tenant: string, command: Command): Promise<Outcome>;
  /** Null: nobody knows whether it was done. */
  ask(tenant: string, command: Command): Promise<Reply | null>;
}

export function journaledAdds(queue: TenantQueue, journals: JobJournals, blobs: BlobStore | null): JournaledAdds {
  const adds = new Adds(queue, journals, blobs);
  return {
    addLines: (jobtype, payloads, onFinish) => adds.addLines(jobtype, payloads, onFinish),
    route: (tenant, command) => adds.route(tenant, command),
    ask: async (tenant, command) => {
      const outcome = await adds.route(tenant, command);
      if (outcome.kind === "reply") return outcome.reply;
      return outcome.kind === "unknown" ? null : answer(ADD_STATUS.notServed);
    },
  };
}

interface Add {
  readonly tenant: string;
  readonly single: boolean;
  readonly lines: number;
}

class Adds {
  readonly #queue: TenantQueue;
  readonly #journals: JobJournals;
  readonly #blobs: BlobStore | null;

  constructor(queue: TenantQueue, journals: JobJournals, blobs: BlobStore | null) {
    this.#queue = queue;
    this.#journals = journals;
    this.#blobs = blobs;
  }

  addLines({ tenant, name }: Jobtype, payloads: readonly (string | Uint8Array)[], onFinish?: string): Promise<Reply> {
    const add = { tenant, single: false, lines: payloads.length };
    if (onFinish === undefined) return this.#written(add, (journal) => journal.write({ tenant, name }, payloads));
    // A line of the document has room for a type and a payload alone.
    const lines: { readonly name: string; readonly payload: Buffer }[] = [];
    for (const payload of payloads) {
      const job = newJobOf({ tenant, name, payload: Buffer.from(withoutEnd(payload)) }, { onFinish });
      if (typeof job === "string") return Promise.resolve(answer({ code: 402, text: job }));
      lines.push({ name, payload: Buffer.from(JSON.stringify(job)) });
    }
    return this.#written(add, (journal) => journal.writeForm("job", tenant, lines));
  }

  async route(tenant: string, command: Command): Promise<Outcome> {
    const outcome = await this.#queue.route(tenant, command);
    if (!isPlainAdd(command)) return outcome;
    if (outcome.kind === "reply" && outcome.reply.status.code === STATUS.ok.code) this.#prepareAside(tenant);
    if (outcome.kind !== "unavailable") return outcome;
    const payloads = await Promise.all(command.jobs.map((job) => payloadOfJob(job, this.#blobs)));
    const lines = payloads.flatMap((payload, n) =>
      payload === null ? [] : { name: command.jobs[n]?.name ?? "", payload },
    );
    if (lines.length < command.jobs.length) return outcome;
    const reply = await this.#written({ tenant, single: command.single, lines: lines.length }, (journal) =>
      journal.writeForm("job", tenant, lines),
    );
    return { kind: "reply", reply };
  }

  /** Nobody waits for it, and it is tried again with the next add: whoever was answered has no use for its failure. */
  #prepareAside(tenant: string): void {
    void this.#prepare(tenant).catch(() => undefined);
  }

  /** For the time when nobody can be asked: a journal for the tenant's shard, and ids. */
  async #prepare(tenant: string): Promise<JobJournal | null> {
    const told = this.#queue.shardOf(tenant);
    const shard = told ?? this.#journals.tenants.shardOf(tenant);
    if (shard === null) return null;
    if (told !== null) await this.#journals.tenants.note(tenant, told);
    if ((await this.#journals.begin(shard)) !== null) return null;
    const journal = this.#journals.of(shard);
    if (journal?.stats().idsLeft === 0) await this.#journals.stock(shard);
    return journal;
  }

  async #written({ tenant, single, lines }: Add, write: (journal: JobJournal) => Promise<Written>): Promise<Reply> {
    const journal = await this.#prepare(tenant);
    if (journal === null) return answer(ADD_STATUS.notServed);
    let written = await write(journal);
    // Others may be quicker and use up what was reserved: as long as somebody reserves more, we go on.
    while (written.kind === "no ids") {
      const shard = this.#journals.tenants.shardOf(tenant);
      if (shard === null || (await this.#journals.stock(shard, lines)) !== null) break;
      written = await write(journal);
    }
    return replyOf(written, single);
  }
}

/** A name that must be the only one, and children, need the owner; so does what the owner would refuse. */
const isPlainAdd = (command: Command): command is CreateJobs =>
  command.verb === "CreateJobs" &&
  command.jobs.every((job) => !job.unique && job.parent === null && birthProblem(command.tenant, job) === null);

function replyOf(written: Written, single: boolean): Reply {
  switch (written.kind) {
    case "written":
      return { status: STATUS.ok, content: { kind: "ids", ids: written.ids, single } };
    case "refused":
      return answer({ code: 402, text: written.why });
    case "full":
      return answer({ ...ADD_STATUS.full, retryAfterMs: written.retryAfterMs });
    case "no ids":
      return answer(ADD_STATUS.notServed);
    case "failed":
      return answer(ADD_STATUS.disk);
  }
}

const answer = (status: Status): Reply => ({ status, content: { kind: "none" } });
