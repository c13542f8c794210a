/** `sluice doctor`: everything that is commonly wrong, looked at in one go. */
import { ADMIN, type Endpoint, INTAKE, type Me } from "@sluice/wire";
import type { Client } from "@sluice/client";
import { type Command, toAdmin } from "../command.ts";
import type { Context } from "../context.ts";
import {
  judgeClock,
  judgeFleet,
  judgeReach,
  judgeToken,
  judgeVersions,
  type Reached,
  type Verdict,
} from "../doctor/checks.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export const DOCTOR_COMMAND: Command = {
  words: ["doctor"],
  says: "Look for what is commonly wrong, and say what to do; 2 if something needs a look, 1 if something is broken",
  examples: ["doctor"],
  talksTo: toAdmin,
  async run(context) {
    const items = await examine(context);
    context.printer.list({
      raw: { items },
      items,
      columns: [
        { title: "CHECK", of: ({ check }) => check },
        { title: "RESULT", of: ({ result }) => result, state: true },
        { title: "SAYS", of: ({ says }) => says, flexible: true },
        { title: "NEXT", of: ({ next }) => next },
      ],
      nameOf: ({ check, result }) => `${check} ${result}`,
      none: "Nothing was looked at.",
    });
    return codeOf(items);
  },
};

async function examine(context: Context): Promise<readonly Verdict[]> {
  const { admin, intake, where, io } = context;
  const submitting = await reach("intake", where.intake, intake, INTAKE.listBatches);
  const operating = await reach("admin", where.admin, admin, ADMIN.me);
  const reached = [submitting.reached, operating.reached];
  const outside = [...reached.map(judgeReach), ...reached.flatMap((each) => judgeClock(each, io.nowMs()))];
  if (operating.body === null) return outside;
  const me = operating.body as Me;
  return [...outside, judgeToken(me), ...(me.permissions.includes("see-fleet") ? await examineFleet(context) : [])];
}

async function examineFleet({ admin }: Context): Promise<readonly Verdict[]> {
  const overview = await admin.call(ADMIN.overview, {});
  const workers = await admin.call(ADMIN.workers, {});
  const model = await admin.call(ADMIN.model, {});
  if (!overview.ok || !workers.ok || !model.ok) {
    const silent = [overview, workers, model].find(({ ok }) => !ok);
    const why = silent?.ok === false && silent.kind === "refused" ? silent.refusal.detail : "no answer";
    const next = "is ZooKeeper running, and can the admin reach it? Its /readyz says more";
    return [{ check: "zookeeper", result: "fail", says: why, next }];
  }
  const { items } = workers.value;
  const there: Verdict = {
    check: "zookeeper",
    result: "pass",
    says: `tree ${overview.value.fleet_id} answers`,
    next: "",
  };
  return [there, judgeVersions(model.value.version, items), ...judgeFleet(overview.value, items)];
}

/** As a file: its headers tell the other side's time. */
async function reach(
  service: Reached["service"],
  url: string | null,
  client: Client,
  endpoint: Endpoint,
): Promise<{ readonly reached: Reached; readonly body: unknown }> {
  const nobody = { service, url, status: 0, why: "", clockMs: null };
  if (url === null) return { reached: nobody, body: null };
  const answer = await client.download(endpoint, { signal: AbortSignal.timeout(PATIENCE_MS) });
  if (answer.ok) {
    const clockMs = Date.parse(answer.value.headers.get("date") ?? "");
    const reached = { ...nobody, status: 200, clockMs: Number.isNaN(clockMs) ? null : clockMs };
    return { reached, body: await answer.value.json().catch(() => null) };
  }
  if (answer.kind === "unreachable") return { reached: { ...nobody, why: answer.why }, body: null };
  const { status, detail } = answer.refusal;
  return { reached: { ...nobody, status, why: detail }, body: null };
}

const PATIENCE_MS = 10_000;

function codeOf(items: readonly Verdict[]): ExitCode {
  if (items.some(({ result }) => result === "fail")) return EXIT.error;
  return items.some(({ result }) => result === "warn") ? EXIT.attention : EXIT.ok;
}
