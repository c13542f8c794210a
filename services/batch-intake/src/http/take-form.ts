/** Submissions that bring their payload along: a multipart form, in the words of whoever speaks it. */
import { randomUUID } from "node:crypto";
import { inScope } from "@sluice/access";
import { callerOf, isStillCaller, type Problem, sendProblem } from "@sluice/http-api";
import type { Outcome } from "@sluice/safe-io";
import type { Request, Response } from "express";
import type { IncomingFolder } from "../files/incoming.ts";
import { type Acceptance, accept, type WaitingUpload } from "../submission/accept.ts";
import { depositorOf } from "../submission/depositor.ts";
import type { FieldProblem } from "../submission/field-problem.ts";
import type { FieldNames, RequestedPayload, SubmissionRequest } from "../submission/request.ts";
import { uniqueNames } from "../submission/upload-names.ts";
import { type HttpDeps, refusalProblem, TOKEN_ENDED, uploadProblem, withRequest, wrongFields } from "./deps.ts";
import { idempotencyKey } from "./idempotency-key.ts";
import { receiveForm, type ReceivedFile, type ReceivedForm } from "./receive-form.ts";

export type Accepted = Extract<Acceptance, { kind: "accepted" }>;
export type FormFields = ReadonlyMap<string, string>;

/** How one API speaks of the same form. */
export interface FormDialect {
  readonly names: FieldNames;
  /** What is wrong with the form itself; the submission in it is checked by others. */
  problems(fields: FormFields): readonly FieldProblem[];
  requestOf(fields: FormFields, payload: RequestedPayload): SubmissionRequest;
  answer(fields: FormFields, accepted: Accepted): void;
}

export async function takeForm(deps: HttpDeps, req: Request, res: Response, dialect: FormDialect): Promise<void> {
  const incoming = await deps.incoming.open(randomUUID());
  if (!incoming.ok) {
    refuse(res, uploadProblem(incoming.error));
    return;
  }
  try {
    await deps.quotas.refresh();
    const received = await receiveForm(req, incoming.value, {
      limits: deps.uploadLimits,
      isNamed: (fields) => given(fields, dialect.names.profile) !== "",
      refuses: (fields) => refuseUpload(deps, req, res, given(fields, dialect.names.profile)),
    });
    // From here on it counts by what came.
    endHold(res);
    // An upload may take hours: whoever has no token any more at its end submits nothing.
    if (received.ok && !(await isStillCaller(res))) refuse(res, TOKEN_ENDED);
    else if (received.ok) await submit(deps, req, res, dialect, received.form, incoming.value);
    else if (received.problem !== null) refuse(res, received.problem);
    else res.destroy();
  } finally {
    endHold(res);
    await incoming.value.discard();
  }
}

/** Whose collection it is not, or whose collection has too much in progress, need not send it. */
function refuseUpload(deps: HttpDeps, req: Request, res: Response, profile: string): Problem | null {
  if (profile === "" || HOLD in res.locals) return null;
  if (!inScope(callerOf(res).scope, profile)) return refusalProblem({ kind: "not-theirs", profile }, "form");
  const bytes = Number(req.get("content-length") ?? 0);
  const over = deps.quotas.refuses(profile, bytes);
  if (over !== null) return refusalProblem(over, "form");
  res.locals[HOLD] = deps.quotas.hold(profile, bytes);
  return null;
}

/** What is on its way counts for its collection. */
const HOLD = "hold";

function endHold(res: Response): void {
  const end: unknown = res.locals[HOLD];
  if (typeof end === "function") (end as () => void)();
}

/** Whoever is still sending is told not to: the connection ends with this answer. */
function refuse(res: Response, problem: Problem): void {
  res.set("Connection", "close");
  sendProblem(res, problem);
}

async function submit(
  deps: HttpDeps,
  req: Request,
  res: Response,
  dialect: FormDialect,
  { fields, files }: ReceivedForm,
  incoming: IncomingFolder,
): Promise<void> {
  const key = idempotencyKey(req);
  const wrong = [
    ...(key.ok ? [] : [key.problem]),
    ...dialect.problems(fields),
    ...fileProblems(dialect.names, fields, files),
  ];
  if (!key.ok || wrong.length > 0) {
    refuse(res, wrongFields(wrong, "form"));
    return;
  }
  const names = namesOf(dialect.names, fields, files);
  const payload = {
    kind: "upload",
    files: files.map(({ bytes, head }, slot) => ({ name: names[slot] ?? "", size: bytes, head })),
  } as const;
  const answer = await accept(withRequest(deps, res), {
    request: dialect.requestOf(fields, payload),
    names: dialect.names,
    depositor: depositorOf(callerOf(res)),
    key: key.key,
    upload: waitingUpload(deps, incoming, files, names),
  });
  if (answer.kind === "accepted") dialect.answer(fields, answer);
  else sendProblem(res, refusalProblem(answer, "form"));
}

const given = (fields: FormFields, name: string): string => fields.get(name)?.trim() ?? "";

/** The name field takes precedence over the part's own name, where it can only mean one file. */
function namesOf(names: FieldNames, fields: FormFields, files: readonly ReceivedFile[]): readonly string[] {
  const name = fields.get(names.payload_name) ?? "";
  return name !== "" ? [name] : uniqueNames(files.map((file) => file.name));
}

function fileProblems(names: FieldNames, fields: FormFields, files: readonly ReceivedFile[]): readonly FieldProblem[] {
  const [first] = files;
  if (first === undefined) return [{ field: "file", detail: "is required: the payload" }];
  if (files.length > 1) {
    return [names.payload_name, names.payload_size]
      .filter((field) => given(fields, field) !== "")
      .map((field) => ({ field, detail: "is for a submission with one file" }));
  }
  const size = given(fields, names.payload_size);
  if (size === "" || size === String(first.bytes)) return [];
  return [{ field: names.payload_size, detail: `the file has ${first.bytes} bytes, not ${size}` }];
}

export function waitingUpload(
  deps: HttpDeps,
  incoming: IncomingFolder,
  files: readonly Pick<ReceivedFile, "digests">[],
  names: readonly string[],
): WaitingUpload {
  const noSignal = new AbortController().signal;
  // Once, however often a place is looked for.
  let naming: Promise<Outcome<void>> | null = null;
  const nameAll = (): Promise<Outcome<void>> => (naming ??= incoming.nameAll(names));
  return {
    sha256: files.map(({ digests }) => digests.sha256 ?? ""),
    async digestOf(algorithm) {
      const known = files[0]?.digests[algorithm];
      if (known !== undefined) return known;
      const computed = await incoming.digestsOf(0, [algorithm], noSignal);
      return computed.ok ? (computed.value[algorithm] ?? null) : null;
    },
    async becomeBatch(batch) {
      const named = await nameAll();
      return named.ok ? incoming.becomeBatch(batch) : named;
    },
    async keep() {
      const named = await nameAll();
      const kept = named.ok ? await deps.uploads.keep(incoming.id) : named;
      if (!kept.ok) return { ok: false, why: kept.error.message };
      const folder = incoming.id;
      return { ok: true, upload: { kind: "kept", folder }, discard: () => deps.uploads.discard(folder) };
    },
    need: (batch) => deps.uploads.need(batch),
    drop: (batch) => deps.removeBatchFolder(batch),
  };
}
