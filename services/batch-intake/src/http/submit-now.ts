/** A batch as JSON is submitted: by whoever asks, or by a run of a deposit for later. */
import type { Reply } from "@sluice/http-api";
import type { NewBatch } from "@sluice/wire";
import { accept } from "../submission/accept.ts";
import type { Depositor } from "../submission/depositor.ts";
import { JSON_NAMES, requestOfJson } from "../submission/json-request.ts";
import { acceptedReply } from "./batch-form.ts";
import { type HttpDeps, refusalProblem } from "./deps.ts";
import { takeObjects } from "./take-objects.ts";

export async function submitNow(
  deps: HttpDeps,
  depositor: Depositor,
  body: NewBatch,
  key: string | null,
): Promise<Reply> {
  if (body.objects !== undefined) return takeObjects(deps, depositor, body, body.objects, key);
  const answer = await accept(deps, { request: requestOfJson(body), names: JSON_NAMES, depositor, key, upload: null });
  return answer.kind === "accepted" ? acceptedReply(answer) : { problem: refusalProblem(answer, "body") };
}
