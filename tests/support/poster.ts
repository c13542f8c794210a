/** Submissions by Merritt's form, as a depositor's browser or script sends them. */
import { type BatchId, parseBatchId } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
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
  return numberOf(intake, uuid);
}

/** While the intake has no session, as on a machine that is busy, what it accepted waits in its journal and gets its number later. */
async function numberOf(intake: Running, uuid: string): Promise<BatchId> {
  const found: BatchId[] = [];
  const look = async (): Promise<boolean> => {
    const { bid } = (await (await fetch(`${intake.url}/v1/batches/${uuid}`)).json()) as { readonly bid: string | null };
    const id = bid === null ? null : parseBatchId(bid);
    if (id !== null) found.push(id);
    return id !== null;
  };
  await waitFor(look, { what: `a number for ${uuid}` });
  return found[0]!;
}
