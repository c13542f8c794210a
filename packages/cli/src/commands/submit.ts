/** Deposits: files from here, or addresses where the fleet fetches them. */
import type { Answer } from "@sluice/client";
import { PAYLOAD_TYPES } from "@sluice/ingest-formats";
import { type Accepted, INTAKE } from "@sluice/wire";
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { type Command, type Option, toIntake } from "../command.ts";
import { type Context, refuse, stop } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { type Asked, DRY_RUN } from "../interact/confirm.ts";
import { makeProgress } from "../interact/progress.ts";
import { plural, showBytes } from "../output/text.ts";
import { sendForm, type UploadFile } from "../upload.ts";
import { TIMEOUT, watchBatch } from "../watch-batch.ts";
import { PROFILE_OPTION } from "./batches.ts";

/** Options that are fields of a submission under the same name. */
const FIELDS: readonly Option[] = [
  {
    name: "type",
    value: "TYPE",
    choices: PAYLOAD_TYPES,
    says: "what the payload is; found from its content if not given",
  },
  { name: "title", value: "TEXT", says: "of the object" },
  { name: "creator", value: "TEXT", says: "of the object" },
  { name: "date", value: "TEXT", says: "of the object" },
  { name: "primary-id", value: "ARK", says: "the object's ARK" },
  { name: "local-id", value: "ID", says: "the object's local ids, separated by ;" },
  { name: "submitter", value: "NAME", says: "who submits; you if not given" },
  {
    name: "notification",
    value: "MAIL",
    says: "who is told instead of the profile's addresses: yourself, or whom the profile allows, separated by commas",
  },
  { name: "note", value: "TEXT", says: "kept with the batch" },
  { name: "digest-type", value: "NAME", says: "of the payload's digest, as sha-256" },
  { name: "digest-value", value: "HEX", says: "the payload's digest: checked" },
];

/** Of a submission that a job of the job queue makes later, or again and again. */
const LATER: readonly Option[] = [
  {
    name: "first-run",
    value: "TIME",
    says: "not now but then: RFC 3339, or YYYY-MM-DD [HH:MM:SS] in UTC; addresses only",
  },
  {
    name: "repeat",
    value: "SCHEDULE",
    says: "again and again, as FINISHED, +1 DAY, START OF DAY, +4 HOURS; addresses only",
  },
];

export const SUBMIT_COMMAND: Command = {
  words: ["submit"],
  says: "Deposit files, or what is at addresses, as one batch; --watch stays until it is over (0 Completed, 2 Failed)",
  takes: [{ name: "FILE|URL", many: true, file: true }],
  options: [
    { ...PROFILE_OPTION, says: "the collection to deposit in" },
    { name: "watch", short: "w", says: "stay until the batch is over" },
    TIMEOUT,
    { name: "update", says: "a new version of an object that is there" },
    ...FIELDS,
    ...LATER,
    { name: "key", value: "KEY", says: "the same key makes the same batch, however often it is sent" },
    DRY_RUN,
  ],
  examples: [
    "submit notes.txt --profile sluice_demo_content --watch",
    "submit https://example.org/batch.checkm --profile sluice_demo_content",
    'submit https://example.org/daily.checkm --profile sluice_demo_content --repeat "FINISHED, +1 DAY, START OF DAY, +4 HOURS"',
  ],
  permission: INTAKE.submitBatch.permission,
  talksTo: toIntake,
  async run(context) {
    const { args, given } = context;
    const profile = given.text("profile");
    if (profile === undefined)
      return stop(context, EXIT.usage, "which collection?", "add --profile NAME; sluice collection list shows them");
    const urls = args.filter((word) => /^https?:\/\//.test(word));
    if (urls.length > 0 && urls.length < args.length)
      return stop(context, EXIT.usage, "files and addresses do not go together", "submit them as two batches");
    if (urls.length === 0 && LATER.some(({ name }) => given.has(name)))
      return stop(
        context,
        EXIT.usage,
        "files cannot be submitted later",
        "name addresses where they can be fetched then",
      );
    const fields = { profile, ...fieldsOf(context) };
    const key = given.text("key") ?? randomUUID();
    const sent = urls.length > 0 ? await sendUrls(context, urls, fields, key) : await sendFiles(context, fields, key);
    if (!sent.ok) return sent.code;
    if (sent.value === null) return EXIT.ok;
    return await accepted(context, sent.value);
  },
};

function fieldsOf({ given }: Context): Readonly<Record<string, string>> {
  const values = FIELDS.flatMap(({ name }) => {
    const value = given.text(name);
    return value === undefined ? [] : [[name.replaceAll("-", "_"), value] as const];
  });
  return { ...Object.fromEntries(values), ...(given.has("update") ? { submission_mode: "update" } : {}) };
}

type Fields = Readonly<Record<string, string>> & { readonly profile: string };
/** null: a dry run. */
type Sent = Asked<Accepted | null>;

async function sendUrls(context: Context, urls: readonly string[], fields: Fields, key: string): Promise<Sent> {
  const { submission_mode: mode, ...rest } = fields;
  const [first = ""] = urls;
  const payload =
    urls.length === 1
      ? { payload_url: first }
      : { objects: urls.map((url) => ({ url })), type: rest["type"] ?? "file" };
  const { given } = context;
  const [firstRun, repeat] = [given.text("first-run"), given.text("repeat")];
  const later = { ...(firstRun === undefined ? {} : { firstRun }), ...(repeat === undefined ? {} : { repeat }) };
  const body = { ...rest, ...later, ...(mode === undefined ? {} : { submission_mode: "update" as const }), ...payload };
  if (context.given.has("dry-run")) {
    context.printer.done(
      body,
      fields.profile,
      `would submit ${plural(urls.length, "address", "addresses")} to ${fields.profile}`,
    );
    return { ok: true, value: null };
  }
  const answer = await context.intake.call(INTAKE.submitBatch, {
    body,
    idempotencyKey: key,
    signal: context.io.interrupted,
  });
  return answerOf(context, answer, key);
}

async function sendFiles(context: Context, fields: Fields, key: string): Promise<Sent> {
  const { io, printer, args, given, where } = context;
  const files: UploadFile[] = [];
  for (const word of args) {
    const path = resolve(io.cwd, word);
    const found = await stat(path).catch(() => null);
    if (found === null) return { ok: false, code: stop(context, EXIT.notFound, `there is no file ${path}`) };
    if (!found.isFile())
      return { ok: false, code: stop(context, EXIT.usage, `${path} is no file`, "pack a folder as zip or tar") };
    files.push({ path, name: basename(path), bytes: found.size });
  }
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (given.has("dry-run")) {
    const raw = { ...fields, files: files.map(({ name, bytes }) => ({ name, bytes })) };
    printer.done(
      raw,
      fields.profile,
      `would submit ${plural(files.length, "file")}, ${showBytes(total)}, to ${fields.profile}`,
    );
    return { ok: true, value: null };
  }
  const progress = makeProgress(io);
  const answer = await sendForm<Accepted>({
    url: `${(where.intake ?? "").replace(/(?<!\/)\/+$/, "")}${INTAKE.submitBatch.path}`,
    token: where.token,
    fields,
    files,
    idempotencyKey: key,
    signal: io.interrupted,
    onBytes: (done) => progress.update([{ label: "upload", done, total, unit: "bytes" }]),
  });
  progress.end();
  return answerOf(context, answer, key);
}

/** Nobody knows what became of a request without an answer: under the same key it can be sent again. */
function answerOf(context: Context, answer: Answer<Accepted>, key: string): Sent {
  if (answer.ok) return { ok: true, value: answer.value };
  const code = refuse(context, answer);
  if (answer.kind === "unreachable")
    context.printer.note(`  To repeat without making a second batch: add --key ${key}`);
  return { ok: false, code };
}

async function accepted(context: Context, { id, bid, url, job }: Accepted): Promise<ExitCode> {
  const { given, printer, intake } = context;
  if (job !== undefined) {
    printer.done({ id, bid, url, job }, id, `job ${job} of the tenant system submits it: sluice schedule list`);
    return EXIT.ok;
  }
  const name = bid ?? id;
  if (!given.has("watch")) {
    printer.done(
      { id, bid, url },
      name,
      `${name} is accepted${bid === null ? ", and waits for the queue" : ""}: sluice batch watch ${name}`,
    );
    return EXIT.ok;
  }
  printer.note(`${name} is accepted`);
  return await watchBatch(context, {
    events: (signal) => intake.events(INTAKE.batchEvents, { params: { id }, signal }),
    jobsInHand: () => intake.call(INTAKE.listJobs, { params: { id }, query: { state: "processing", limit: 50 } }),
    job: (jid) => intake.call(INTAKE.getJob, { params: { id: jid } }),
  });
}
