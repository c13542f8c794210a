/** What is run for the jobs of a type, and the workers that run it. */
import { type HandlerSummary, HandlerSpec, JOBS, type JobWorker } from "@sluice/wire";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parse } from "yaml";
import { type Command, type Option, toJobs } from "../command.ts";
import { type Context, refuse, stop } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { confirmed, DRY_RUN, REASON, reasonFor, YES } from "../interact/confirm.ts";
import { safeLines, showBytes } from "../output/text.ts";
import { TENANT, tenantOf } from "./queued-jobs.ts";

const TYPE = { name: "TYPE" } as const;
const OF_VERSION: Option = { name: "of-version", value: "N", kind: "number", says: "this version" };

const looking = { permission: JOBS.listHandlers.permission, talksTo: toJobs } as const;
const using = { permission: JOBS.putHandler.permission, talksTo: toJobs } as const;

const at = (context: Context) => ({ tenant: tenantOf(context), type: context.args[0] ?? "" });

export const HANDLER_COMMANDS: readonly Command[] = [
  {
    ...looking,
    words: ["handler", "list"],
    says: "The handlers of a tenant, all versions",
    options: [TENANT],
    examples: ["handler list"],
    async run(context) {
      const answer = await context.jobs.call(JOBS.listHandlers, { params: { tenant: tenantOf(context) } });
      if (!answer.ok) return refuse(context, answer);
      context.printer.list<HandlerSummary>({
        raw: answer.value,
        items: answer.value.items,
        columns: [
          { title: "TYPE", of: ({ type }) => type },
          { title: "VERSION", of: ({ version }) => String(version), right: true },
          { title: "LANG", of: ({ lang }) => lang },
          { title: "SIZE", of: ({ bytes }) => showBytes(bytes), right: true },
          { title: "MADE", of: ({ created }, { time }) => time(created) },
          { title: "BY", of: ({ by }) => by, flexible: true },
        ],
        nameOf: ({ type, version }) => `${type}@${version}`,
        none: "No handlers.",
      });
      return EXIT.ok;
    },
  },
  {
    ...looking,
    words: ["handler", "show"],
    says: "The handler of a type: the newest version, or the one that is named",
    takes: [TYPE],
    options: [TENANT, OF_VERSION],
    examples: ["handler show mail", "handler show mail --of-version 1 -o yaml"],
    async run(context) {
      const query = { version: context.given.number("of-version") };
      const answer = await context.jobs.call(JOBS.getHandler, { params: at(context), query });
      if (!answer.ok) return refuse(context, answer);
      const { value } = answer;
      context.printer.show(value, `${value.type}@${value.version}`, (printer) => [
        ...printer.fields([
          ["Type", value.type],
          ["Version", String(value.version)],
          ["Language", value.lang],
          ["Made", printer.time(value.created)],
          ["By", value.by],
          ["Network", value.allow?.network?.join(", ") ?? "none"],
          ["Files", value.allow?.files?.join(", ") ?? "none"],
          ["Time limit", value.timeoutMs === undefined ? null : `${value.timeoutMs} ms`],
          ["Memory limit", value.memoryMb === undefined ? null : `${value.memoryMb} MB`],
        ]),
        "",
        safeLines(value.body),
      ]);
      return EXIT.ok;
    },
  },
  {
    ...using,
    words: ["handler", "add"],
    says: "A new version of a type's handler",
    takes: [TYPE, { name: "FILE", file: true }],
    options: [
      TENANT,
      {
        name: "lang",
        value: "LANG",
        says: "FILE is the body, in this language: node, http, container, or an interpreter that runners have, such as php",
      },
      REASON,
      DRY_RUN,
    ],
    examples: ["handler add mail mail.yaml --dry-run", "handler add mail mail.js --lang node --dry-run"],
    async run(context) {
      const { args, given, io, printer } = context;
      const spec = await readSpec(resolve(io.cwd, args[1] ?? ""), given.text("lang"));
      if (typeof spec === "string")
        return stop(context, EXIT.usage, spec, "FILE is YAML or JSON with lang and body, or a body with --lang");
      const { tenant, type } = at(context);
      if (given.has("dry-run")) {
        printer.done(spec, type, `would add a handler in ${spec.lang} for ${type} of ${tenant}`);
        return EXIT.ok;
      }
      const reason = await reasonFor(context);
      if (!reason.ok) return reason.code;
      const query = { reason: reason.value };
      const answer = await context.jobs.call(JOBS.putHandler, { params: at(context), query, body: spec });
      if (!answer.ok) return refuse(context, answer);
      const { version } = answer.value;
      printer.done(answer.value, `${type}@${version}`, `handler ${type} of ${tenant} is at version ${version}`);
      return EXIT.ok;
    },
  },
  {
    ...using,
    words: ["handler", "delete"],
    says: "Delete a type's handler, all versions or one; its jobs are retried until their time is over",
    takes: [TYPE],
    options: [TENANT, OF_VERSION, REASON, DRY_RUN, YES],
    examples: ["handler delete mail --dry-run"],
    async run(context) {
      const { given, printer } = context;
      const { tenant, type } = at(context);
      const version = given.number("of-version");
      const what = `${version === undefined ? "all versions" : `version ${version}`} of ${type} of ${tenant}`;
      if (given.has("dry-run")) {
        printer.done({ tenant, type, version: version ?? null }, type, `would delete ${what}`);
        return EXIT.ok;
      }
      const reason = await reasonFor(context);
      if (!reason.ok) return reason.code;
      const sure = await confirmed(context, `delete ${what}?`, type);
      if (!sure.ok) return sure.code;
      const query = { version, reason: reason.value };
      const answer = await context.jobs.call(JOBS.deleteHandler, { params: at(context), query });
      if (!answer.ok) return refuse(context, answer);
      printer.done(answer.value, type, `deleted: ${answer.value.versions.map((each) => `${type}@${each}`).join(", ")}`);
      return EXIT.ok;
    },
  },
  {
    words: ["runner", "list"],
    says: "The workers of the general queue, living and dead",
    examples: ["runner list"],
    permission: JOBS.listWorkers.permission,
    talksTo: toJobs,
    async run(context) {
      const answer = await context.jobs.call(JOBS.listWorkers, {});
      if (!answer.ok) return refuse(context, answer);
      context.printer.list<JobWorker>({
        raw: answer.value,
        items: answer.value.items,
        columns: [
          { title: "RUNNER", of: ({ Name }) => Name },
          { title: "STATUS", of: ({ Status }) => Status, state: true },
          { title: "JOB", of: ({ Job }) => Job },
          { title: "HEARTBEAT", of: ({ Heartbeat }, { time }) => time(Heartbeat) },
          { title: "CPU", of: ({ Stats }) => Stats.Cpu.toFixed(2), right: true },
          { title: "MEM", of: ({ Stats }) => Stats.Mem.toFixed(2), right: true },
          { title: "ADDRESS", of: ({ PrivateIp }) => PrivateIp },
          { title: "INSTANCE", of: ({ InstanceId }) => InstanceId, wide: true },
          { title: "PUBLIC", of: ({ PublicIp }) => PublicIp, wide: true },
        ],
        nameOf: ({ Name }) => Name,
        none: "No runners.",
      });
      return EXIT.ok;
    },
  },
  {
    words: ["runner", "release"],
    says: "Give back at once every job that a runner has; it has no say in them any more",
    takes: [{ name: "RUNNER" }],
    options: [REASON, DRY_RUN, YES],
    examples: ['runner release RUNNER --reason "its machine hangs" --yes'],
    permission: JOBS.releaseWorker.permission,
    talksTo: toJobs,
    async run(context) {
      const { args, given, jobs, printer } = context;
      const [worker = ""] = args;
      if (given.has("dry-run")) {
        printer.done({ worker }, worker, `would give back every job that ${worker} has`);
        return EXIT.ok;
      }
      const reason = await reasonFor(context);
      if (!reason.ok) return reason.code;
      const sure = await confirmed(context, `give back every job that ${worker} has?`, worker);
      if (!sure.ok) return sure.code;
      const query = { reason: reason.value };
      const answer = await jobs.call(JOBS.releaseWorker, { params: { worker }, query });
      if (!answer.ok) return refuse(context, answer);
      const { jobIDs } = answer.value;
      printer.done(answer.value, worker, `given back: ${jobIDs.join(", ") || "it had none"}`);
      return EXIT.ok;
    },
  },
];

/** Or why it is none. */
async function readSpec(file: string, lang: string | undefined): Promise<HandlerSpec | string> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    return (error as Error).message;
  }
  const spec = HandlerSpec.safeParse(lang === undefined ? parsed(text) : { lang, body: text });
  if (spec.success) return spec.data;
  return `${file}: ${spec.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`.trim()).join("; ")}`;
}

function parsed(text: string): unknown {
  try {
    return parse(text) as unknown;
  } catch {
    return undefined;
  }
}
