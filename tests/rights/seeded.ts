/** The APIs over a real tree (the stage API has nothing behind it: who is bound elsewhere gets nowhere there), with deposits, schedules, jobs and handlers of one collection and one tenant. */
import { type Authenticator, type Caller, mintToken, type Role, ROLES, type TokenRecord } from "@sluice/access";
import { batchFolder, beginOperation } from "@sluice/queue-core";
import { aBatchOfJobs, aJobSpec, aSubmission, testWorker, testZooKeeper } from "@sluice/testkit";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startAdmin } from "../../services/admin/test/support.ts";
import { openReading } from "../../services/batch-intake/src/http/reading/open-reading.ts";
import { openSchedules } from "../../services/batch-intake/src/submission/open-schedules.ts";
import { type Cleanups, temporaryFolder } from "../../services/batch-intake/test/support.ts";
import { BOUND, openIntake, openJobApi, openStageApi, OWN, type Scope, SCOPES } from "./apis.ts";
import { bodyOf, send } from "./requests.ts";

/** Stands in everything that is the collection's or the tenant's. */
const SECRET = "unpublished-letter";

export interface Seeded {
  readonly urls: Readonly<Record<"intake" | "admin" | "job-api" | "stage-api", string>>;
  readonly credentialsFor: (role: Role, scope: Scope) => string;
  /** Paths of a row, each with something of the collection or the tenant in it. */
  readonly pathsOf: (path: string) => readonly string[];
  /** Of the job queue. */
  readonly job: number;
  /** What callers of others must not read. */
  readonly secrets: readonly string[];
}

interface Tokens {
  readonly by: Authenticator;
  readonly records: readonly TokenRecord[];
  readonly tokenOf: (role: Role, scope: Scope) => string;
}

function mintAll(): Tokens {
  const callers = new Map<string, Caller>();
  const tokens = new Map<string, string>();
  const records: TokenRecord[] = [];
  const named = (scope: "all" | readonly string[]): string[] => (scope === "all" ? ["*"] : [...scope]);
  for (const role of ROLES)
    for (const scope of SCOPES) {
      const { id, token, hash } = mintToken(randomBytes);
      const bound = BOUND[scope];
      callers.set(`Bearer ${token}`, { id: `token:${id}`, name: `${role}-${scope}`, role, ...bound });
      tokens.set(`${role} ${scope}`, token);
      const [collections, tenants] = [named(bound.scope), named(bound.tenants)];
      const times = { created: "", created_by: "test", expires: "2099-01-01T00:00:00Z" };
      records.push({ id, name: `${role}-${scope}`, role, collections, tenants, hash, ...times });
    }
  const by: Authenticator = {
    authenticate(credentials) {
      const caller = callers.get(credentials ?? "");
      if (caller !== undefined) return Promise.resolve({ kind: "caller", caller });
      return Promise.resolve(credentials === undefined ? { kind: "anonymous" } : { kind: "refused", why: "nobody" });
    },
  };
  return { by, records, tokenOf: (role, scope) => tokens.get(`${role} ${scope}`)! };
}

export async function openSeeded(cleanups: Cleanups): Promise<Seeded> {
  const { by, records, tokenOf } = mintAll();
  const { connect } = await testZooKeeper();
  const worker = await testWorker(connect, "batch-intake");
  cleanups.add(() => worker.close());
  const jobApi = await openJobApi(cleanups, by);
  const stageApi = await openStageApi(cleanups, by);
  const credentialsFor = (role: Role, scope: Scope): string => `Bearer ${tokenOf(role, scope)}`;

  const spec = aJobSpec();
  const configuration = { ...spec.configuration, profile_name: OWN.collection, payload_name: `${SECRET}.pdf` };
  const submission = aSubmission({ profile_name: OWN.collection, erc_what: SECRET });
  const { batch, jobs } = await aBatchOfJobs(worker, [{ ...spec, configuration }], submission);
  const ordered = { action: "priority", priority: 42 } as const;
  const operation = await beginOperation(worker.ctx, { name: "olga", reason: SECRET }, ordered, jobs);

  const intake = await openIntake(cleanups, by, ({ backlog, queue }) => ({
    reading: openReading({ queue: () => worker.ctx, archive: null, backlog }),
    // What is submitted waits in the journal.
    queue: { ...queue, fleet: () => null, reserve: () => Promise.resolve(null) },
    schedules: openSchedules({ JOB_API_URL: jobApi.url, JOB_API_TOKEN: tokenOf("scheduler", "all") }),
  }));
  const outbox = await temporaryFolder(cleanups);
  await writeFile(
    join(outbox, `${batchFolder({ batchId: batch, batchEpoch: worker.identity.epoch })}.1.eml`),
    `Subject: ${SECRET}\r\nTo: jo@example.org\r\n\r\n${SECRET}\r\n`,
  );
  const admin = await startAdmin(connect, {
    more: records,
    env: { INTAKE_URL: intake.url, JOB_API_URL: jobApi.url, MAIL_OUTBOX_DIR: outbox },
  });
  cleanups.add(() => admin.stop());

  const post = async (url: string, body: object, method = "POST"): Promise<Readonly<Record<string, unknown>>> => {
    const credentials = credentialsFor("depositor", "own");
    const { status, text } = await send(url, method, { credentials, content: JSON.stringify(body) });
    if (status >= 300) throw new Error(`${url}: ${status} ${text}`);
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  };
  const later = { ...bodyOf("/v1/batches", { tenant: OWN.tenant, job: 0 }), title: SECRET };
  const kept = (await post(`${intake.url}/v1/batches`, later))["id"] as string;
  const schedule = (await post(`${intake.url}/v1/batches`, { ...later, firstRun: "2099-01-01T00:00:00Z" }))["job"];
  const tenant = `${jobApi.url}/v1/tenants/${OWN.tenant}`;
  const { jobID } = await post(`${tenant}/commands/CreateJob`, { name: "container", data: { title: SECRET } });
  await post(`${tenant}/handlers/${SECRET}`, { lang: "node", body: "return 200" }, "PUT");

  const subject = (path: string): readonly string[] => {
    if (path.startsWith("/v1/tenants/") || path.startsWith("/v2/")) return [String(jobID)];
    // Only what is in the journal can have been refused.
    if (path.endsWith("/refusals")) return [kept];
    if (path.startsWith("/v1/batches/")) return [batch, kept];
    if (path.startsWith("/admin/bid/")) return [batch];
    if (path.startsWith("/v1/jobs/")) return [jobs[0]!];
    if (path.startsWith("/v1/operations/")) return [operation.id];
    if (path.startsWith("/v1/schedules/")) return [String(schedule)];
    return ["x"];
  };
  return {
    urls: { intake: intake.url, admin: admin.url, "job-api": jobApi.url, "stage-api": stageApi.url },
    credentialsFor,
    job: Number(jobID),
    secrets: [SECRET, OWN.collection, OWN.tenant, batch, kept, jobs[0]!],
    pathsOf: (path) =>
      subject(path).map((id) =>
        path
          .replace(/:(tenant|client)\b/, OWN.tenant)
          .replace(":type", SECRET)
          .replace(/:(name|profile|collection)\b/, OWN.collection)
          .replace(":days", "1")
          .replace(":stage", OWN.stage)
          .replace(":id", id)
          .replaceAll(/:\w+/g, "x"),
      ),
  };
}
