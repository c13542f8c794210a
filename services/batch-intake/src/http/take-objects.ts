/** Objects in the request itself: written down as a batch manifest, which is then the batch's upload. */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { Reply } from "@sluice/http-api";
import type { Outcome } from "@sluice/safe-io";
import type { NewBatch, SubmittedObject } from "@sluice/wire";
import { inlineManifestName } from "@sluice/working-folder";
import type { IncomingFolder, StoredUpload } from "../files/incoming.ts";
import { accept } from "../submission/accept.ts";
import type { Depositor } from "../submission/depositor.ts";
import { batchOfObjects } from "../submission/inline-objects.ts";
import type { FieldProblem } from "../submission/field-problem.ts";
import { JSON_NAMES, requestOfJson } from "../submission/json-request.ts";
import { acceptedReply } from "./batch-form.ts";
import { type HttpDeps, refusalProblem, uploadProblem, wrongFields } from "./deps.ts";
import { waitingUpload } from "./take-form.ts";

const NAME = "objects.checkm";

/** One after the other, in the order of their slots. */
async function storeAll(incoming: IncomingFolder, texts: readonly string[]): Promise<Outcome<readonly StoredUpload[]>> {
  const stored: StoredUpload[] = [];
  const { signal } = new AbortController();
  for (const [slot, text] of texts.entries()) {
    const one = await incoming.receive(slot, Readable.from([Buffer.from(text)]), ["sha256"], signal);
    if (!one.ok) return one;
    stored.push(one.value);
  }
  return { ok: true, value: stored };
}

/** What can only be said of a payload elsewhere. */
const OF_A_PAYLOAD = ["payload_url", "payload_name", "payload_size", "digest_type", "digest_value"] as const;

export async function takeObjects(
  deps: HttpDeps,
  depositor: Depositor,
  body: NewBatch,
  objects: readonly SubmittedObject[],
  key: string | null,
): Promise<Reply> {
  const batch = batchOfObjects(objects, body.type);
  const problems: FieldProblem[] = OF_A_PAYLOAD.filter((field) => body[field] !== undefined).map((field) => ({
    field,
    detail: "does not go together with objects",
  }));
  if (!batch.ok || problems.length > 0)
    return { problem: wrongFields([...problems, ...(batch.ok ? [] : batch.problems)], "body") };
  const { kind, manifest, objectManifests } = batch.value;
  const incoming = await deps.incoming.open(randomUUID());
  if (!incoming.ok) return { problem: uploadProblem(incoming.error) };
  try {
    const stored = await storeAll(incoming.value, [manifest, ...objectManifests]);
    if (!stored.ok) return { problem: uploadProblem(stored.error) };
    const [first] = stored.value;
    const files = first === undefined ? [] : [{ name: NAME, size: first.bytes, head: first.head }];
    const names = [NAME, ...objectManifests.map((_, i) => inlineManifestName(i + 1))];
    const payload = { kind: "upload", files, manifests: objectManifests.length } as const;
    const answer = await accept(deps, {
      request: { ...requestOfJson(body), payload, type: kind },
      names: JSON_NAMES,
      depositor,
      key,
      upload: waitingUpload(deps, incoming.value, stored.value, names),
    });
    return answer.kind === "accepted" ? acceptedReply(answer) : { problem: refusalProblem(answer, "body") };
  } finally {
    await incoming.value.discard();
  }
}
