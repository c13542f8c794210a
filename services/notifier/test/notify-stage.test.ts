import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createEgress, type Egress } from "@sluice/safe-io";
import type { ServerResponse } from "node:http";
import { notifyStage } from "../src/notify-stage.ts";
import {
  aJob,
  answers,
  JOB_NAME,
  jobContext,
  logbook,
  loopbackEgress,
  profileWith,
  type Receiver,
  receiver,
} from "./support.ts";

describe("a job whose object is stored and recorded", () => {
  let egress: Egress;
  let server: Receiver | undefined;
  beforeEach(() => {
    egress = loopbackEgress();
  });
  afterEach(async () => {
    await egress.close();
    await server?.close();
    server = undefined;
  });

  const listen = async (answer: (response: ServerResponse) => void): Promise<Receiver> =>
    (server = await receiver(answer));
  const stage = (lines: readonly string[], deliveries: string[] = []) =>
    notifyStage({
      profiles: profileWith(lines),
      egress,
      attemptsMax: 5,
      persistentUrlBase: "https://n2t.net/",
      onDelivery: (kind) => deliveries.push(kind),
    });

  test("is done at once when its profile wants no callback", async () => {
    expect(await stage([]).handle(aJob(), jobContext())).toEqual({ kind: "done", changes: {} });
  });

  test("is told to the receiver in Merritt's form, with a key that stays the same", async () => {
    const { host, received } = await listen(answers(200));
    const deliveries: string[] = [];
    const ctx = jobContext();

    const outcome = await stage([`CallbackURL: http://${host}/hook`], deliveries).handle(aJob({ retryCount: 2 }), ctx);

    expect(outcome).toEqual({ kind: "done", changes: {} });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ method: "POST", path: `/hook/mc/${JOB_NAME}` });
    expect(received[0]!.headers).toMatchObject({
      "content-type": "application/json",
      "idempotency-key": `${JOB_NAME}.COMPLETED.2`,
    });
    expect(received[0]!.headers.authorization).toBeUndefined();
    expect(JSON.parse(received[0]!.body)).toEqual({
      "job:jobState": {
        "xmlns:job": "http://uc3.cdlib.org/ontology/mrt/ingest/job",
        "job:jobID": JOB_NAME,
        "job:jobStatus": "COMPLETED",
        "job:completionDate": "2024-05-01T11:59:58.000Z",
        "job:primaryID": "ark:/99999/fk4abc",
        "job:localID": "etd-1;etd-1b",
        "job:persistentURL": "https://n2t.net/ark:/99999/fk4abc",
        "job:submissionDate": "2024-04-30T10:00:00.000Z",
        "job:versionID": "3",
        "job:objectTitle": "A thesis",
        "job:objectCreator": "N. N.",
        "job:objectDate": "2024",
        "job:packageName": "thesis.pdf",
        "job:hashAlgorithm": "sha-256",
        "job:hashValue": "ab12",
        "job:queuePriority": "05",
      },
    });
    expect(deliveries).toEqual(["accepted"]);
    expect(ctx.steps).toEqual(["beforeEffect", "afterEffect"]);
  });

  test("names the version that was stored, also where all versions have one manifest", async () => {
    const { host, received } = await listen(answers(200));
    const manifest_url = "http://store/manifest/7777/ark%3A%2F99999%2Ffk4abc";
    const inventories = [
      { manifest_url, mode: "update", version: 4 },
      { manifest_url, mode: "" },
    ];
    for (const inventory of inventories)
      await stage([`CallbackURL: http://${host}/hook`]).handle(aJob({ inventory }), jobContext());
    const versions = received.map(({ body }) => JSON.parse(body) as Record<string, Record<string, string>>);
    expect(versions.map((body) => body["job:jobState"]?.["job:versionID"])).toEqual(["4", undefined]);
  });

  test("shows name and password of the URL to the receiver, and to nobody else", async () => {
    const { host, received } = await listen(answers(401));
    const { log, notes } = logbook();
    const profile = [`CallbackURL: http://anna:s%40cret@${host}/hook/?realm=x`, "CallbackFailure: warn"];

    const warned = await stage(profile).handle(aJob(), jobContext(log));
    const failed = await stage(profile.slice(0, 1)).handle(aJob(), jobContext(log));

    const basic = `Basic ${Buffer.from("anna:s@cret").toString("base64")}`;
    expect(received.map(({ headers }) => headers.authorization)).toEqual([basic, basic]);
    expect(received[0]!.path).toBe(`/hook/mc/${JOB_NAME}?realm=x`);
    const said = JSON.stringify([warned, failed, notes]);
    expect(said).toContain("401");
    expect(said).not.toMatch(/anna|cret|realm=x/);
  });

  test.each([500, 501, 503, 429, 408])("is tried again when the receiver answers %d", async (status) => {
    const { host } = await listen(answers(status));
    expect(await stage([`CallbackURL: http://${host}`]).handle(aJob(), jobContext())).toMatchObject({
      kind: "retry",
      code: "CALLBACK_FAILED",
      message: expect.stringContaining(String(status)),
    });
  });

  test("waits as long as the receiver asks, but not for a day", async () => {
    const { host } = await listen(answers(503, { "retry-after": "17" }));
    const profile = [`CallbackURL: http://${host}`];
    expect(await stage(profile).handle(aJob(), jobContext())).toMatchObject({ kind: "retry", delayMs: 17_000 });
    await server?.close();

    const slow = await listen(answers(429, { "retry-after": "86400" }));
    expect(await stage([`CallbackURL: http://${slow.host}`]).handle(aJob(), jobContext())).toMatchObject({
      kind: "retry",
      delayMs: 3_600_000,
    });
  });

  test.each([400, 404, 410, 422])("fails when the receiver answers %d", async (status) => {
    const { host } = await listen(answers(status));
    expect(await stage([`CallbackURL: http://${host}`]).handle(aJob(), jobContext())).toMatchObject({
      kind: "fail",
      code: "CALLBACK_FAILED",
    });
  });

  test("fails when the receiver redirects a callback elsewhere for good", async () => {
    const { host, received } = await listen(answers(302, { location: "http://example.org/" }));
    const outcome = await stage([`CallbackURL: http://${host}`]).handle(aJob(), jobContext());
    expect(outcome).toMatchObject({ kind: "fail", code: "CALLBACK_FAILED" });
    expect(received).toHaveLength(1);
  });

  test("is tried again when nobody listens, and when the connection breaks", async () => {
    const { host } = await listen((response) => response.destroy());
    const profile = [`CallbackURL: http://${host}`];
    expect(await stage(profile).handle(aJob(), jobContext())).toMatchObject({ kind: "retry", code: "CALLBACK_FAILED" });
    await server?.close();
    expect(await stage(profile).handle(aJob(), jobContext())).toMatchObject({ kind: "retry", code: "CALLBACK_FAILED" });
  });

  test("fails when the receiver's address is one that must not be asked", async () => {
    const { host, received } = await listen(answers(200));
    const guarded = createEgress();
    const parts = {
      profiles: profileWith([`CallbackURL: http://${host}`]),
      egress: guarded,
      attemptsMax: 5,
      persistentUrlBase: null,
    };
    expect(await notifyStage(parts).handle(aJob(), jobContext())).toMatchObject({
      kind: "fail",
      code: "CALLBACK_FAILED",
    });
    expect(received).toHaveLength(0);
    await guarded.close();
  });

  test("goes on with a warning after its last attempt if the profile says so", async () => {
    const { host } = await listen(answers(503));
    const profile = [`CallbackURL: http://${host}`, "CallbackFailure: warn"];
    const { log, notes } = logbook();
    expect(await stage(profile).handle(aJob({ attempt: 4 }), jobContext(log))).toMatchObject({ kind: "retry" });
    expect(notes).toEqual([]);
    expect(await stage(profile).handle(aJob({ attempt: 5 }), jobContext(log))).toMatchObject({
      kind: "done",
      changes: { message: expect.stringContaining("503") },
    });
    expect(notes).toMatchObject([{ level: "warn" }]);
  });

  test("waits for its profile when that cannot be had: nobody can say whether a callback is wanted", async () => {
    const job = aJob();
    const stray = { ...job, configuration: { ...job.configuration, profile_name: "other_content" } };
    expect(await stage([]).handle(stray, jobContext())).toMatchObject({ kind: "retry", code: "PROFILE_UNKNOWN" });
  });
});
