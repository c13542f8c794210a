/** Submissions by Merritt's form, as a depositor's browser or script sends them. */
import { type BatchId, parseBatchId } from "@sluice/queue-core";
import { PROFILE, type Running } from "./fleet.ts";

export interface Upload {
  readonly name: string;
  readonly text: string;
}

/** Answers with the batch that was made of it. */
export async function postForm(
  intake: Running,
  { name, text }: Upload,
  fields: Readonly<Record<string, string>>,
  verb = "submit",
): Promise<BatchId> {
  const form = new FormData();
  for (const [field, value] of Object.entries({ profile: PROFILE, submitter: "test", responseForm: "json", ...fields }))
    form.set(field, value);
  form.set("file", new Blob([text]), name);
  const answer = await fetch(`${intake.url}/poster/${verb}`, { method: "POST", body: form });
  const uuid = answer.headers.get("bid");
  if (!answer.ok || uuid === null) throw new Error(`not accepted: ${answer.status} ${await answer.text()}`);
  const shown = (await (await fetch(`${intake.url}/v1/batches/${uuid}`)).json()) as { readonly bid: string };
  const id = parseBatchId(shown.bid);
  if (id === null) throw new Error(`${uuid} is ${shown.bid}`);
  return id;
}
