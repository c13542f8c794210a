import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  openRawSession,
  startFaultProxy,
  testZooKeeper,
  waitFor,
  type FaultProxy,
  type RawSession,
} from "@sluice/testkit";

const createOp = (path: string) => [{ op: "create" as const, path, data: Buffer.from(path) }];

let proxy: FaultProxy;
let client: RawSession;
/** Sees the server as it is. */
let observer: RawSession;

beforeEach(async () => {
  const { connect } = await testZooKeeper();
  proxy = await startFaultProxy(connect);
  [client, observer] = await Promise.all([openRawSession(proxy.connect), openRawSession(connect)]);
});

afterEach(async () => {
  client.abandon();
  await observer.close();
  await proxy.close();
});

const names = async (): Promise<readonly string[]> => {
  const answer = await observer.children("/");
  return answer.ok ? [...answer.value.names].sort() : [];
};

describe("the fault proxy", () => {
  test("passes everything and counts it by kind", async () => {
    await client.multi(createOp("/a"));
    await client.multi(createOp("/b"));
    await client.get("/a");

    expect(await names()).toEqual(["a", "b"]);
    expect(Object.fromEntries(proxy.counts)).toEqual({ connect: 1, multi: 2, getData: 1 });
  });

  test("loses a request before it arrives", async () => {
    const seen = proxy.onNext("multi", "cutBefore");

    await expect(client.multi(createOp("/a"))).rejects.toThrow("closed");

    expect(await seen).toMatchObject({ opcode: "multi", xid: 1 });
    expect(await names()).toEqual([]);
  });

  test("loses the answer of a request that was carried out, and only that one", async () => {
    void proxy.onNext("multi", "cutAfterForward");
    const read = client.get("/");

    await expect(client.multi(createOp("/a"))).rejects.toThrow("closed");

    expect(await read).toMatchObject({ ok: true });
    expect(await names()).toEqual(["a"]);
    const again = await openRawSession(proxy.connect);
    expect(await again.multi(createOp("/b"))).toMatchObject({ ok: true });
    await again.close();
  });

  test("cuts an answer in the middle", async () => {
    void proxy.onNext("getData", "cutInReply");

    await expect(client.get("/")).rejects.toThrow("closed");
  });

  test("drops one answer and keeps the connection", async () => {
    void proxy.onNext("multi", "dropReply");
    const lost = client.multi(createOp("/a"));

    // Answers come in order, so the lost one's place is taken by the next: this client is as naive as that.
    const answer = await Promise.race([lost, client.multi(createOp("/b"))]);

    expect(answer).toMatchObject({ ok: true });
    expect(await names()).toEqual(["a", "b"]);
  });

  test("asks the rule about every request", async () => {
    proxy.onRequest(({ opcode, bytes }) => (opcode === "multi" && bytes.includes("/bad") ? "cutBefore" : "pass"));

    expect(await client.multi(createOp("/good"))).toMatchObject({ ok: true });
    await expect(client.multi(createOp("/bad"))).rejects.toThrow("closed");
    expect(await names()).toEqual(["good"]);
  });

  test("as a black hole swallows requests for good", async () => {
    await proxy.setMode("blackhole");
    void client.multi(createOp("/swallowed")).catch(() => undefined);
    await waitFor(() => proxy.counts.get("multi") === 1);

    await proxy.setMode("pass");
    proxy.cut();

    expect(await names()).toEqual([]);
  });

  test("holding back, delivers late", async () => {
    await proxy.setMode("hold");
    const late = client.multi(createOp("/late"));
    expect(await names()).toEqual([]);

    await proxy.setMode("pass");

    expect(await late).toMatchObject({ ok: true });
  });

  test("dropping answers, lets requests through", async () => {
    await proxy.setMode("dropReplies");
    void client.multi(createOp("/a")).catch(() => undefined);

    expect(await waitFor(async () => (await names()).includes("a"))).toBe(true);
  });

  test("refusing, closes all and listens to nobody until told otherwise", async () => {
    await proxy.setMode("refuse");

    await expect(client.get("/")).rejects.toThrow("closed");
    await expect(openRawSession(proxy.connect)).rejects.toThrow("ECONNREFUSED");
    await proxy.setMode("pass");
    const again = await openRawSession(proxy.connect);
    expect(await again.get("/")).toMatchObject({ ok: true });
    await again.close();
  });

  test("hanging, accepts and does not answer", async () => {
    await proxy.setMode("hang");
    const newcomer = openRawSession(proxy.connect);
    const first = await Promise.race([newcomer.then(() => "answered"), observer.get("/").then(() => "silent")]);
    expect(first).toBe("silent");

    await proxy.setMode("pass");

    await (await newcomer).close();
  });

  test("keeps the order of frames that it delays", async () => {
    proxy.setDelay(5);

    const answers = await Promise.all(["/a", "/a/b", "/a/b/c"].map((path) => client.multi(createOp(path))));

    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true]);
  });
});
