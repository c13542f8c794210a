/** Mails to operators that others have ordered: a real tree, the reporter's own loop, a real mail server. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { noticeFindings, paths } from "@sluice/queue-core";
import { baseConfig, readConfig, Service, silentLog } from "@sluice/stage-runtime";
import {
  type Delivered,
  mailServer,
  type MailServer,
  type TestWorker,
  testWorker,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { systemClock } from "@sluice/zookeeper";
import type { Mailer } from "../src/mail.ts";
import { openMailer } from "../src/open-mailer.ts";
import { operatorMailsInbox } from "../src/operator-mails.ts";

const ORPHAN = { rule: "J-01", path: "/jobs/jid0000009999" };
const OPERATORS = ["ops@example.org", "eve@example.org"];
const mailOf = (text: string) => ({ subject: "fsck: 1 finding", text, at: "2026-11-16T13:00:00.000Z" });

let connect: string;
let runner: TestWorker;
let server: MailServer;
let mailer: Mailer;
let delivered: Delivered[];
/** So often the server says "not now". */
let refusals: number;
const running: { readonly service: Service; readonly ended: Promise<number> }[] = [];

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  runner = await testWorker(connect, "operator", { register: false });
  [delivered, refusals] = [[], 0];
  server = await mailServer((mail) => delivered.push(mail), {
    onMailFrom: (_address, _session, done) =>
      refusals-- > 0 ? done(Object.assign(new Error("not now"), { responseCode: 451 })) : done(),
  });
  mailer = openMailer(server.url, { from: "sluice@sluice.example", replyTo: null, bcc: [] });
});
afterEach(async () => {
  for (const { service, ended } of running.splice(0)) {
    service.ring();
    await ended;
  }
  mailer.close();
  await Promise.all([server.close(), runner.close()]);
});

function startReporter(name: string, operators: readonly string[]): void {
  const env = { ZOOKEEPER_CONNECT: connect, METRICS_PORT: "0", POLL_INTERVAL_MS: "50", IDLE_POLL_INTERVAL_MS: "200" };
  const read = readConfig(baseConfig, { ...env, WORKER_ID: name });
  if (!read.ok) throw new Error(read.problems.join());
  const service = new Service(
    {
      service: "reporter",
      config: read.config,
      duties: () => [operatorMailsInbox({ operators, mailer, subjectTag: "stg", againMs: 100 })],
    },
    { clock: systemClock, random: Math.random, log: silentLog(), probe: () => undefined },
  );
  running.push({ service, ended: service.run() });
}

const allTaken = (): Promise<unknown> =>
  waitFor(async () => {
    const left = await runner.session.children(paths.operatorMails);
    return left.ok && left.value.names.length === 0;
  });

test("what fsck finds is mailed once for each set of findings, by one of two reporters, also when the server is away at first", async () => {
  refusals = 2;
  expect(await noticeFindings(runner.session, [ORPHAN], mailOf("first <words>"))).toBe("news");
  for (const name of ["reporter-1", "reporter-2"]) startReporter(name, OPERATORS);
  await waitFor(() => delivered.length === 1, { what: "a mail" });
  expect(await noticeFindings(runner.session, [ORPHAN], mailOf("the same"))).toBe("known");
  expect(await noticeFindings(runner.session, [{ ...ORPHAN, rule: "J-02" }], mailOf("other"))).toBe("news");
  await waitFor(() => delivered.length === 2, { what: "the second mail" });
  await allTaken();
  const [{ to, source }] = delivered as [Delivered];
  expect(to).toEqual(OPERATORS);
  expect(source).toContain("Subject: [stg] fsck: 1 finding");
  expect(source).toContain("first <words>");
  expect(source).toContain("first &lt;words&gt;");
  const ids = delivered.map((mail) => /Message-ID:\s+(\S+)/i.exec(mail.source)?.[1]);
  expect(new Set(ids).size).toBe(2);
});

test("without MAIL_OPERATORS nobody is told, and nothing stays behind", async () => {
  expect(await noticeFindings(runner.session, [ORPHAN], mailOf("words"))).toBe("news");
  startReporter("reporter-1", []);
  await allTaken();
  expect(delivered).toEqual([]);
});
