/** What tests look at from outside while services run: batches by ZooKeeper, processes by their metrics and health. */
import { type BatchId, readBatch } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
import type { Session } from "@sluice/zookeeper";
import type { Running } from "./fleet.ts";

/**
 * The session of a test that only observes. A lost session never comes back, so a machine that stalls for some seconds must not end
 * it. ZooKeeper grants at most 60 s here.
 */
export const OBSERVER_SESSION_MS = 60_000;

/** The batch's verdict, once there is one. */
export async function untilReported(session: Session, id: BatchId): Promise<string> {
  let ended = "";
  return await waitFor(
    async () => {
      const view = await readBatch(session, id);
      if (view.kind !== "found") return null;
      const { status, counts } = view.value;
      ended = JSON.stringify([status.status, counts]);
      return ["Completed", "Failed"].includes(status.status) ? status.status : null;
    },
    { what: `report of ${id}`, progress: () => ended },
  );
}

/** The sum of a metric's samples that have these labels; 0 if there are none. */
export async function metric(
  running: Running,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const text = await (await fetch(`${running.metricsUrl}/metrics`)).text();
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

export const jobsSettled = (running: Running, outcome: string): Promise<number> =>
  metric(running, "sluice_stage_jobs_total", { stage: running.service, outcome });

export async function untilSettled(running: Running, outcome: string): Promise<void> {
  await waitFor(async () => (await jobsSettled(running, outcome)) > 0, {
    what: `a job of ${running.service} settled as ${outcome}`,
  });
}
