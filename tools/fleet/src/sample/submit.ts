/** Submits the sample batch as a depositor's script would: over HTTP, with a key that makes a repeat harmless. */
import { randomUUID } from "node:crypto";
import { type BatchId, parseBatchId } from "@sluice/queue-core";

export const SAMPLE_PROFILE = "sluice_demo_content";

export async function submitSample(intakeUrl: string, manifestUrl: string, token: string): Promise<BatchId> {
  const answer = await fetch(`${intakeUrl}/v1/batches`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
    },
    body: JSON.stringify({
      profile: SAMPLE_PROFILE,
      submitter: "npm start",
      payload_url: manifestUrl,
      type: "single-file-batch-manifest",
      title: "A sample batch",
    }),
  });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`the sample batch was not accepted (${answer.status}): ${body}`);
  const id = /\bbid\d{10}\b/.exec(body)?.[0];
  const batch = id === undefined ? null : parseBatchId(id);
  if (batch === null) throw new Error(`no batch id in the answer: ${body}`);
  return batch;
}
