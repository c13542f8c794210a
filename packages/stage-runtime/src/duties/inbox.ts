/** The engine of an inbox: items that somebody left in a directory, each acted upon once. */
import { EMPTY, parseBatchId, parseJobId } from "@sluice/queue-core";
import { type Fault, resolveUnknown, type Stat } from "@sluice/zookeeper";
import type { Inbox, InboxContext } from "../duty.ts";
import { letGo } from "../engine/let-go.ts";
import type { RunningDuty } from "../engine/running-duty.ts";
import { isLost, type Scope } from "../engine/scope.ts";
import type { Log } from "../log.ts";
import { type Consumed, type InboxOutcome, retry } from "../outcome.ts";
import { type ItemResult, startItemDuty } from "./item-loop.ts";
import { ItemRetries } from "./item-retries.ts";

const HELD_BY_ANOTHER_MS = 1_000;
const LEAVING_TRIES = 5;
const NO_ANSWER: Fault = { ok: false, code: "UNKNOWN", detail: "" };

export function startInbox(inbox: Inbox, scope: Scope): RunningDuty {
  const retries = new ItemRetries(scope.random);
  return startItemDuty(
    {
      name: `inbox ${inbox.name}`,
      path: inbox.path,
      choose: (names) => Promise.resolve(names),
      work: (name) => new InboxWork(inbox, scope, retries, name).run(),
      pausable: inbox.pausable ?? true,
    },
    scope,
  );
}

class InboxWork {
  readonly #inbox: Inbox;
  readonly #scope: Scope;
  readonly #retries: ItemRetries;
  readonly #name: string;
  readonly #path: string;
  readonly #lock: string;
  readonly #log: Log;
  /** Of the item as it was read, or as we have written it. */
  #version = 0;

  constructor(inbox: Inbox, scope: Scope, retries: ItemRetries, name: string) {
    this.#inbox = inbox;
    this.#scope = scope;
    this.#retries = retries;
    this.#name = name;
    this.#path = `${inbox.path}/${name}`;
    this.#lock = `${this.#path}/lock`;
    this.#log = scope.log.child({ inbox: inbox.name, item: name, ...idsIn(name) });
  }

  async run(): Promise<ItemResult> {
    if (this.#inbox.exclusive && !(await this.#takeLock()))
      return { kind: "later", outcome: "held", delayMs: HELD_BY_ANOTHER_MS };
    const item = await this.#scope.queue.session.get(this.#path);
    if (!item.ok) return await this.#unread(item.code);
    const { data, stat } = item.value;
    this.#version = stat.version;
    const outcome = await this.#handle(data);
    if (isLost(this.#scope)) return { kind: "later", outcome: "lost", delayMs: 0 };
    if (outcome.kind === "consumed") return await this.#consume(stat.czxid, outcome);
    await this.#dropLock();
    return this.#later(outcome);
  }

  /** Only the server's word says that it is gone; without an answer it is looked at again. */
  async #unread(code: Fault["code"]): Promise<ItemResult> {
    if (code === "NO_NODE") return { kind: "gone", outcome: "gone" };
    await this.#dropLock();
    return { kind: "later", outcome: "unread", delayMs: HELD_BY_ANOTHER_MS };
  }

  async #handle(data: Buffer): Promise<InboxOutcome> {
    const { aborting, queue, failpoint } = this.#scope;
    const rewrite = (next: Buffer): Promise<boolean> => this.#rewrite(next);
    const context: InboxContext = { signal: aborting, clock: queue.clock, log: this.#log, failpoint, queue, rewrite };
    try {
      return await this.#inbox.handle({ name: this.#name, data }, context);
    } catch (error) {
      if (!aborting.aborted) this.#log.error({ err: error }, "the handler threw");
      return retry("UNEXPECTED", error instanceof Error ? error.message : String(error));
    }
  }

  /**
   * An item without children can be deleted by anybody; one with a lock only together with it. One worker of a session
   * has an item at a time: a lock of our session is ours, left by a turn whose answers were lost.
   */
  async #takeLock(): Promise<boolean> {
    const answer = await this.#submit([{ op: "create", path: this.#lock, data: EMPTY, ephemeral: true }]);
    if (answer.ok) return true;
    if (answer.code === "NODE_EXISTS") return (await this.#holder()) === "ours";
    if (answer.code !== "UNKNOWN") return false;
    const taken = await resolveUnknown(this.#scope.queue.session, async () => {
      const holder = await this.#holder();
      return holder === "unknown" ? NO_ANSWER : { ok: true, value: holder === "ours" };
    });
    if (!taken.ok && taken.why === "unresolved") await this.#dropLock();
    return taken.ok && taken.value;
  }

  async #holder(): Promise<"ours" | "others" | "nobody" | "unknown"> {
    const { session } = this.#scope.queue;
    const lock = await session.exists(this.#lock);
    if (!lock.ok) return "unknown";
    if (lock.value === null) return "nobody";
    return lock.value.ephemeralOwner === session.id ? "ours" : "others";
  }

  /** Until it is gone, or not ours; a session that cannot let go of it ends. */
  async #dropLock(): Promise<void> {
    if (!this.#inbox.exclusive) return;
    await letGo(this.#scope, { inbox: this.#inbox.name, item: this.#name }, async () => {
      if (!(await this.#scope.queue.session.untilConnected())) return { kind: "lost" };
      const answer = await this.#submit([{ op: "delete", path: this.#lock, version: 0 }]);
      if (answer.ok || answer.code === "NO_NODE") return { kind: "gone" };
      if (answer.code === "UNKNOWN") await this.#scope.queue.session.barrier();
      const holder = await this.#holder();
      return { kind: holder === "ours" || holder === "unknown" ? "refused" : "gone" };
    });
  }

  async #rewrite(data: Buffer): Promise<boolean> {
    const answer = await this.#submit([{ op: "set", path: this.#path, data, version: this.#version }]);
    if (answer.ok) this.#version++;
    return answer.ok;
  }

  async #consume(czxid: Stat["czxid"], outcome: Consumed): Promise<ItemResult> {
    this.#retries.succeeded(this.#name);
    if (!this.#inbox.exclusive && !(await this.#isStillThere(czxid))) return { kind: "gone", outcome: "consumed" };
    const answer = await this.#remove(outcome);
    if (answer.ok || answer.code === "NO_NODE") return { kind: "gone", outcome: "consumed" };
    this.#log.warn({ code: answer.code }, "an item was not removed");
    await this.#dropLock();
    return { kind: "later", outcome: "refused", delayMs: HELD_BY_ANOTHER_MS };
  }

  /** What it leaves behind is for people: where that keeps changing, the item goes without. */
  async #remove({ leaving }: Consumed) {
    const unlock = this.#inbox.exclusive ? [{ op: "delete", path: this.#lock, version: 0 } as const] : [];
    const removal = [...unlock, { op: "delete", path: this.#path, version: this.#version } as const];
    for (let attempt = 0; leaving !== undefined && attempt < LEAVING_TRIES; attempt++) {
      const answer = await this.#submit([...removal, ...(await leaving())]);
      if (answer.ok || answer.code === "UNKNOWN" || answer.index < removal.length) return answer;
    }
    return await this.#submit(removal);
  }

  /**
   * The handler of an item without lock may have removed it itself, in the move that it was about; and somebody may
   * have left a new item of that name since, which is not ours to remove.
   */
  async #isStillThere(czxid: bigint): Promise<boolean> {
    const now = await this.#scope.queue.session.exists(this.#path);
    return now.ok && now.value?.czxid === czxid;
  }

  #submit(ops: Parameters<Scope["queue"]["committer"]["submit"]>[0]["ops"]) {
    return this.#scope.queue.committer.submit({ rank: "commit", ops });
  }

  #later(outcome: Exclude<InboxOutcome, { kind: "consumed" }>): ItemResult {
    if (outcome.kind === "snooze") {
      this.#log.info({ outcome: outcome.kind, why: outcome.why, delay_ms: outcome.delayMs }, "item waits");
      return { kind: "later", outcome: "snooze", delayMs: outcome.delayMs };
    }
    const failures = this.#retries.failed(this.#name);
    const delayMs = outcome.delayMs ?? this.#retries.delayMs(failures);
    const why = `${outcome.code}: ${outcome.message}`;
    this.#log.warn({ outcome: outcome.kind, why, failures, delay_ms: delayMs }, "item waits");
    return { kind: "later", outcome: "retry", delayMs };
  }
}

/** Items are named after their job or batch: by its id their lines are found. */
function idsIn(name: string): { readonly job_id?: string; readonly batch_id?: string } {
  const [first = ""] = name.split(".");
  const [job, batch] = [parseJobId(first), parseBatchId(first)];
  return { ...(job === null ? {} : { job_id: job }), ...(batch === null ? {} : { batch_id: batch }) };
}
