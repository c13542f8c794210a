/** Jobs that are made at a steady pace, at every door of the queue, until it is told to stop. */
import { setTimeout as pause } from "node:timers/promises";
import type { JobClient } from "@sluice/job-client";
import { talkOverTcp } from "../../conformance/talk.ts";
import type { ApiAddress } from "./processes.ts";

export interface Accepted {
  readonly tenant: string;
  readonly id: number;
}

export interface Load {
  /** Whoever made it was told so. Where no answer came, nobody was. */
  readonly accepted: Accepted[];
  readonly counts: Readonly<Record<"http" | "tcp" | "lines", number>>;
  stop(): Promise<void>;
}

const PACE_MS = 60;

export function startLoad(jobs: JobClient, apis: readonly ApiAddress[]): Load {
  const accepted: Accepted[] = [];
  const counts = { http: 0, tcp: 0, lines: 0 };
  const stopping = new AbortController();
  const note = (door: keyof typeof counts, tenant: string, ids: readonly number[]): void => {
    accepted.push(...ids.map((id) => ({ tenant, id })));
    counts[door] += ids.length;
  };
  const creator = async (make: (api: ApiAddress, n: number) => Promise<void>): Promise<void> => {
    for (let n = 0; !stopping.signal.aborted; n++) {
      const api = apis[n % apis.length];
      // Who is killed while we speak to it gives no answer: then nothing was accepted.
      if (api !== undefined) await make(api, n).catch(() => undefined);
      await pause(PACE_MS);
    }
  };
  const types = ["call", "work", "code"] as const;
  const overHttp = async (_: ApiAddress, n: number): Promise<void> => {
    const made = await jobs.createJob({ name: types[n % types.length] ?? "", data: { payload: `http ${n}` } });
    if (made.ok) note("http", jobs.tenant, [made.value]);
  };
  const overTcp = async (api: ApiAddress): Promise<void> => {
    const talk = talkOverTcp([api]);
    try {
      const said = await talk.ask("CreateJob", { name: "work" });
      if (said.status === "200 OK") note("tcp", "default", [(said.content as { readonly jobID: number }).jobID]);
    } finally {
      talk.hangUp();
    }
  };
  const asLines = async ({ http }: ApiAddress, n: number): Promise<void> => {
    const type = n % 2 === 0 ? "call" : "code";
    const told = await fetch(`${http}/lines/job/${type}/add`, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: `first ${n}\nsecond ${n}\n`,
    });
    const text = await told.text();
    if (told.status === 200) note("lines", "lines", text.trim().split("\n").map(Number));
  };
  const creating = Promise.all([overHttp, overTcp, asLines].map(creator));
  return {
    accepted,
    counts,
    async stop() {
      stopping.abort();
      await creating;
    },
  };
}
