import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Delivered, mailServer, type MailServer } from "@sluice/testkit";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeMail } from "../src/compose.ts";
import type { Letterhead } from "../src/letterhead.ts";
import { mailUrlProblem, openMailer } from "../src/open-mailer.ts";
import { BATCH, failedJob, NOW_MS, reported } from "./support.ts";

const LETTERHEAD: Letterhead = {
  from: "Sluice Ingest <ingest@sluice.example>",
  replyTo: "help@sluice.example",
  bcc: ["ops@sluice.example"],
};

const mail = composeMail({
  batch: BATCH,
  news: {
    kind: "first",
    lists: { completed: [reported(1, { title: "Schöne Grüße" })], failed: [failedJob(2)], deleted: [] },
  },
  number: 1,
  to: ["anna@example.org", "ben@example.org"],
  atMs: NOW_MS,
  tag: "",
  verbose: false,
});

describe("the outbox", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-outbox-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test("holds one whole mail per report, however often it is sent", async () => {
    const outbox = openMailer(`outbox:${join(folder, "deep", "outbox")}`, LETTERHEAD);
    expect(await outbox.send(mail)).toEqual({ kind: "sent", detail: "bid0000000012.1.eml" });
    const first = await readFile(join(folder, "deep", "outbox", "bid0000000012.1.eml"), "utf8");
    expect(await outbox.send({ ...mail, text: "changed" })).toMatchObject({ kind: "sent" });

    expect(await readdir(join(folder, "deep", "outbox"))).toEqual(["bid0000000012.1.eml"]);
    expect(await readFile(join(folder, "deep", "outbox", "bid0000000012.1.eml"), "utf8")).toBe(first);
    expect(first).toContain("Message-ID: <bid-1f0d7f3e-0000-4000-8000-000000000012.1@sluice.example>\r\n");
    expect(first).toContain("From: Sluice Ingest <ingest@sluice.example>\r\n");
    expect(first).toContain("Reply-To: help@sluice.example\r\n");
    expect(first).toContain("To: anna@example.org, ben@example.org\r\n");
    expect(first).toContain(`Subject: Ingest: FAIL -- Submission Processed:`);
    expect(first).toContain("Date: Wed, 01 May 2024 12:00:00 +0000\r\n");
    expect(first).toContain("filename=failed.json");
    expect(first).toContain("filename=completed.json");
    outbox.close();
  });

  test("that is not there to be written to lets the report wait", async () => {
    await writeFile(join(folder, "file"), "");
    const outbox = openMailer(`outbox:${join(folder, "file")}`, LETTERHEAD);
    expect(await outbox.send(mail)).toMatchObject({ kind: "later" });
    outbox.close();
  });
});

describe("a mail server", () => {
  let server: MailServer | undefined;
  afterEach(() => server?.close());

  async function serve(
    options: Parameters<typeof mailServer>[1] = {},
  ): Promise<{ url: string; delivered: Delivered[] }> {
    const delivered: Delivered[] = [];
    server = await mailServer((taken) => delivered.push(taken), options);
    return { url: server.url, delivered };
  }

  const refusal = (code: number, message: string): Error => Object.assign(new Error(message), { responseCode: code });

  test("gets one mail for all recipients and the operators' copy, with the same Message-ID and bytes every time", async () => {
    const { url, delivered } = await serve();
    const smtp = openMailer(url, LETTERHEAD);
    expect(await smtp.send(mail)).toMatchObject({ kind: "sent" });
    expect(await smtp.send(mail)).toMatchObject({ kind: "sent" });

    expect(delivered.map(({ to }) => to)).toEqual(
      Array(2).fill(["anna@example.org", "ben@example.org", "ops@sluice.example"]),
    );
    expect(delivered[1]).toEqual(delivered[0]);
    for (const { source } of delivered) {
      expect(source).toContain("Message-ID: <bid-1f0d7f3e-0000-4000-8000-000000000012.1@sluice.example>");
      expect(source).not.toContain("ops@sluice.example");
    }
    smtp.close();
  });

  test("that refuses all recipients has refused the mail for good", async () => {
    const { url } = await serve({ onRcptTo: (_address, _session, done) => done(refusal(550, "no such user")) });
    const smtp = openMailer(url, LETTERHEAD);
    expect(await smtp.send(mail)).toMatchObject({ kind: "refused" });
    smtp.close();
  });

  test("that refuses one recipient has taken the mail for the others", async () => {
    const { url, delivered } = await serve({
      onRcptTo: ({ address }, _session, done) =>
        address.startsWith("ben@") ? done(refusal(550, "no such user")) : done(),
    });
    const smtp = openMailer(url, LETTERHEAD);
    expect(await smtp.send(mail)).toMatchObject({
      kind: "sent",
      detail: expect.stringContaining("refused for 1 of 3"),
    });
    expect(delivered).toMatchObject([{ to: ["anna@example.org", "ops@sluice.example"] }]);
    smtp.close();
  });

  test("without TLS is told nothing, neither a mail nor a password, unless its URL allows that", async () => {
    const told: string[] = [];
    const { url, delivered } = await serve({
      authMethods: ["PLAIN"],
      allowInsecureAuth: true,
      onAuth: ({ username }, _session, done) => {
        told.push(username ?? "");
        done(null, { user: username });
      },
    });
    const withPassword = url.replace("//", "//user:s3cret@");
    for (const strict of [withPassword.replace(/\?.*$/, ""), withPassword.replace(/\?.*$/, "?ignoreTLS=true")]) {
      const smtp = openMailer(strict, LETTERHEAD);
      expect(await smtp.send(mail)).toMatchObject({ kind: "later" });
      smtp.close();
    }
    expect([told, delivered]).toEqual([[], []]);
    const lenient = openMailer(withPassword, LETTERHEAD);
    expect(await lenient.send(mail)).toMatchObject({ kind: "sent" });
    expect([told, delivered.length]).toEqual([["user"], 1]);
    lenient.close();
  });

  test("that speaks TLS gets the mail over it, if its certificate is good", async () => {
    const secure: boolean[] = [];
    const { url, delivered } = await serve({
      disabledCommands: [],
      onMailFrom: (_address, session, done) => {
        secure.push(session.secure);
        done();
      },
    });
    const [unproved, taken] = ["", "?tls.rejectUnauthorized=false"].map((query) =>
      openMailer(url.replace(/\?.*$/, query), LETTERHEAD),
    );
    expect(await unproved!.send(mail)).toMatchObject({ kind: "later" });
    expect(await taken!.send(mail)).toMatchObject({ kind: "sent" });
    expect([secure, delivered.length]).toEqual([[true], 1]);
    unproved!.close();
    taken!.close();
  });

  test("that says not now is asked again later", async () => {
    const { url } = await serve({ onMailFrom: (_address, _session, done) => done(refusal(451, "greylisted")) });
    const smtp = openMailer(url, LETTERHEAD);
    expect(await smtp.send(mail)).toMatchObject({ kind: "later", why: expect.stringContaining("greylisted") });
    smtp.close();
  });

  test("that is not there is asked again later, and its password is not told to anybody", async () => {
    const { url } = await serve();
    await server!.close();
    server = undefined;
    const smtp = openMailer(url.replace("//", "//user:s3cret@"), LETTERHEAD);
    const sent = await smtp.send(mail);
    expect(sent).toMatchObject({ kind: "later" });
    expect(JSON.stringify(sent)).not.toContain("s3cret");
    smtp.close();
  });
});

describe("MAIL_URL", () => {
  test.each(["outbox:./data/outbox", "smtp://mail.example.org", "smtps://u:p@mail.example.org:465"])(
    "may be %s",
    (url) => {
      expect(mailUrlProblem(url)).toBeNull();
    },
  );
  test.each(["outbox:", "mailto:a@example.org", "http://example.org", "smtp:", "/tmp/outbox"])(
    "may not be %s",
    (url) => {
      expect(mailUrlProblem(url)).not.toBeNull();
    },
  );
});
