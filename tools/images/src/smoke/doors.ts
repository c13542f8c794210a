/** What the smoke asks a running fleet, over its public doors. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";

const LOOK_AGAIN_MS = 300;
const BATCH_LIMIT_MS = 900_000;

const Batch = z.object({
  status: z.string(),
  counts: z.object({ processing: z.number(), failed: z.number(), completed: z.number() }),
});
export type BatchState = z.infer<typeof Batch>;
const Submitted = z.object({ id: z.string() });
const Messages = z.object({ messages: z.array(z.object({ id: z.number(), subject: z.string() })) });
const Vector = z.object({
  data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }),
});

export interface Intake {
  readonly url: string;
  readonly token: string;
}

export async function submitManifest({ url, token }: Intake, manifestUrl: string): Promise<string> {
  const answer = await fetch(`${url}/v1/batches`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
    },
    body: JSON.stringify({
      profile: "sluice_demo_content",
      submitter: "smoke",
      payload_url: manifestUrl,
      type: "single-file-batch-manifest",
    }),
  });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`the batch was not accepted (${answer.status}): ${body}`);
  return Submitted.parse(JSON.parse(body)).id;
}

export async function lookAtBatch({ url, token }: Intake, id: string): Promise<BatchState> {
  const answer = await fetch(`${url}/v1/batches/${id}`, { headers: { authorization: `Bearer ${token}` } });
  return Batch.parse(await answer.json());
}

/** Waits until `enough` holds; an intake that is away meanwhile is asked again. */
export async function watchBatch(
  intake: Intake,
  id: string,
  enough: (batch: BatchState) => boolean,
): Promise<BatchState> {
  const deadline = performance.now() + BATCH_LIMIT_MS;
  for (;;) {
    const batch = await lookAtBatch(intake, id).catch(() => null);
    if (batch !== null && enough(batch)) return batch;
    if (performance.now() > deadline) throw new Error(`batch ${id} is still ${JSON.stringify(batch)}`);
    await sleep(LOOK_AGAIN_MS);
  }
}

export async function subjectsOfMails(url: string): Promise<readonly string[]> {
  const answer = await fetch(`${url}/messages`);
  return Messages.parse(await answer.json()).messages.map(({ subject }) => subject);
}

/** The first value of an instant query; null if it has none. */
export async function askPrometheus(url: string, query: string): Promise<number | null> {
  const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
  const first = Vector.parse(await answer.json()).data.result[0];
  return first === undefined ? null : Number(first.value[1]);
}

export async function until(what: string, limitMs: number, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${limitMs} ms`);
    await sleep(LOOK_AGAIN_MS);
  }
}
