/** Node handlers behind the walls of this machine, without any queue. */
import { createEgress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import type { Handler } from "@sluice/wire";
import type { Ended, JobInHand, Runner, RunPorts } from "../../src/run/types.ts";
import { openNodeRunner, type NodeSettings } from "../../src/sandbox/open-node-runner.ts";
import type { Interpreters } from "../../src/sandbox/interpreters.ts";
import type { Standing } from "../../src/sandbox/walls.ts";

let next = 0;

export const aHandler = (body: string, more: Partial<Handler> = {}): Handler => ({
  id: `h${(next += 1)}`,
  tenant: "alpha",
  type: "t",
  version: next,
  created: "2026-11-16T13:00:00.000Z",
  by: "somebody",
  lang: "node",
  body,
  ...more,
});

export const aJob = (payload = "", more: Partial<JobInHand> = {}): JobInHand => ({
  tenant: "alpha",
  id: (next += 1),
  type: "t",
  lease: "1.1",
  data: { payload },
  createdMs: 0,
  repeats: false,
  ...more,
});

export interface Sandbox {
  readonly runner: Runner;
  readonly broken: string[];
  readonly contexts: () => number;
  run(handler: Handler, payloads?: readonly string[]): Promise<readonly Ended[]>;
}

export function openSandbox(
  standing: Standing,
  settings: Partial<NodeSettings> = {},
  interpreters: Interpreters = new Map(),
): Sandbox {
  const broken: string[] = [];
  let contexts = 0;
  const egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK }, maxRedirects: 0 });
  const runner = openNodeRunner({
    standing,
    interpreters,
    egress,
    filesDir: null,
    settings: { timeoutMs: 20_000, cpuMs: 20_000, memoryMb: 64, idleMs: 60_000, jobsPerContext: 100, ...settings },
    refused: null,
    onBroken: (why) => broken.push(why),
    onCount: (count) => (contexts = count),
  });
  return {
    runner: { ...runner, close: () => runner.close().then(() => egress.close()) },
    broken,
    contexts: () => contexts,
    run: async (handler, payloads = [""]) => {
      const jobs = payloads.map((payload) => aJob(payload, { tenant: handler.tenant, type: handler.type }));
      const ends = new Map<number, Ended>();
      const never = new AbortController().signal;
      const ports: RunPorts = {
        signalOf: () => never,
        started: () => undefined,
        settle: (job, ended) => {
          if (ends.has(job.id)) throw new Error(`job ${job.id} ended twice`);
          ends.set(job.id, ended);
          return Promise.resolve();
        },
        step: () => Promise.resolve(),
      };
      await runner.run({ tenant: handler.tenant, type: handler.type, jobs }, handler, ports);
      return jobs.map(({ id }) => ends.get(id)!);
    },
  };
}
