/** A real tree with a batch of three jobs, and a foreign hand that plants faults in it. */
import type { BatchId, JobId } from "@sluice/queue-core";
import {
  aBatchOfJobs,
  openRawSession,
  type RawSession,
  testWorker,
  type TestWorker,
  testZooKeeper,
} from "@sluice/testkit";
import { fsck, type FsckOptions, type FsckReport } from "../src/index.ts";

export const OLGA = { name: "olga", reason: "nightly fsck" };
const NONE = Buffer.alloc(0);

export class Bench {
  readonly connect: string;
  readonly intake: TestWorker;
  readonly operator: TestWorker;
  readonly foreign: RawSession;
  readonly batch: BatchId;
  readonly jobs: readonly JobId[];

  private constructor(parts: Pick<Bench, "connect" | "intake" | "operator" | "foreign" | "batch" | "jobs">) {
    ({
      connect: this.connect,
      intake: this.intake,
      operator: this.operator,
      foreign: this.foreign,
      batch: this.batch,
      jobs: this.jobs,
    } = parts);
  }

  static async open(): Promise<Bench> {
    const { connect } = await testZooKeeper();
    const intake = await testWorker(connect, "batch-intake");
    const operator = await testWorker(connect, "operator", { register: false });
    const foreign = await openRawSession(connect);
    return new Bench({ connect, intake, operator, foreign, ...(await aBatchOfJobs(intake, 3)) });
  }

  async close(): Promise<void> {
    await Promise.all([this.intake.close(), this.operator.close(), this.foreign.close()]);
  }

  async look(options: FsckOptions = {}): Promise<FsckReport> {
    const result = await fsck(this.operator.session, options);
    if (result.kind !== "looked") throw new Error(result.kind);
    return result.report;
  }

  create(path: string, data: Buffer = NONE): Promise<unknown> {
    return this.foreign.multi([{ op: "create", path, data }]);
  }

  async remove(path: string): Promise<void> {
    await this.foreign.multi([{ op: "delete", path, version: await this.#versionOf(path) }]);
  }

  /** With everything below it. */
  async removeAll(path: string): Promise<void> {
    const below = await this.operator.session.children(path);
    for (const name of below.ok ? below.value.names : []) await this.removeAll(`${path}/${name}`);
    await this.remove(path);
  }

  async write(path: string, data: string): Promise<void> {
    const version = await this.#versionOf(path);
    await this.foreign.multi([{ op: "set", path, data: Buffer.from(data), version }]);
  }

  async #versionOf(path: string): Promise<number> {
    const node = await this.foreign.get(path);
    if (!node.ok) throw new Error(`no ${path}`);
    return node.value.stat.version;
  }
}

export const short = ({ findings }: FsckReport): readonly string[] =>
  findings.map(({ rule, path }) => `${rule} ${path}`);
