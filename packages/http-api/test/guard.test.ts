/** What one client may hold of a server, and how slow it may be. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { afterEach, describe, expect, test } from "@jest/globals";
import { type Guarded, HTTP_DEFAULTS, type HttpServer, jsonBodies, type ListenOptions } from "../src/index.ts";
import { Connections } from "../src/server/connections.ts";
import { type Incoming, Pace } from "../src/server/pace.ts";
import { serve } from "./support.ts";

let server: HttpServer | null = null;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close(0);
  server = null;
});

const refusals: Guarded[] = [];
let tellMuchEnded: () => void = () => undefined;
const muchEnded = new Promise<void>((resolve) => (tellMuchEnded = resolve));
const MUCH_BYTES = 50_000_000;
/** Longer than a busy machine lets a process stand still: a connection whose request has not been read yet counts as silent. */
const STALL_MS = 1_000;
async function start(limits: ListenOptions["limits"], isProxy?: (address: string) => boolean): Promise<HttpServer> {
  refusals.length = 0;
  server = await serve(
    (app) => {
      app.get("/hello", (_request, response) => void response.end("hello"));
      app.get("/never", () => undefined);
      app.get("/much", (_request, response) => {
        response.once("close", tellMuchEnded);
        response.end(Buffer.alloc(MUCH_BYTES));
      });
      app.post("/body", jsonBodies(), (request, response) => void response.json(request.body));
    },
    {
      ...(limits === undefined ? {} : { limits }),
      ...(isProxy === undefined ? {} : { isProxy }),
      onRefused: (why) => refusals.push(why),
    },
  );
  return server;
}

async function dial({ port }: HttpServer, text = ""): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  if (text !== "") socket.write(text);
  return socket;
}

/** Everything that the server says until it ends the connection. */
async function wholeAnswer(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.resume();
  await once(socket, "close");
  return text;
}

async function firstAnswer(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString("latin1");
}

const GET = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";

describe("connections", () => {
  test("of one address beyond the limit are answered 429 with Retry-After, and their request is not served", async () => {
    const at = await start({ CONNECTIONS_PER_ADDRESS: 2 });
    const held = [await dial(at, GET), await dial(at, GET)];
    for (const socket of held) expect(await firstAnswer(socket)).toMatch(/^HTTP\/1.1 200/);
    const answer = await wholeAnswer(await dial(at, GET));
    expect(answer).toMatch(/^HTTP\/1\.1 429 Too many requests\r\nConnection: close\r\n/);
    expect(answer).toContain("Retry-After: 5");
    expect(answer).toContain('"code":"TOO_MANY_REQUESTS"');
    expect(answer).not.toContain("hello");
    expect(refusals).toEqual(["address"]);
    held[0]?.destroy();
    await once(held[0]!, "close");
    expect(
      await until(
        async () => await firstAnswer(await dial(at, GET)),
        (text) => text.includes("200 OK"),
      ),
    ).toContain("hello");
  });

  test("of a process beyond the limit are answered 503 with Retry-After", async () => {
    const at = await start({ CONNECTIONS_MAX: 1 });
    await firstAnswer(await dial(at, GET));
    expect(await wholeAnswer(await dial(at, GET))).toMatch(/^HTTP\/1\.1 503 [\s\S]*Retry-After: 5[\s\S]*UNAVAILABLE/);
    expect(refusals).toEqual(["process"]);
  });

  test("of a trusted proxy are those of many clients, and count for the process alone", async () => {
    const at = await start({ CONNECTIONS_PER_ADDRESS: 1 }, (address) => address === "127.0.0.1");
    for (const socket of [await dial(at, GET), await dial(at, GET), await dial(at, GET)])
      expect(await firstAnswer(socket)).toMatch(/^HTTP\/1.1 200/);
  });

  test("are counted by IPv4 address, also on a socket of both families, and by network of IPv6", () => {
    const connections = new Connections({ max: 100, perAddress: 1, isProxy: () => false });
    const isIn = (address: string): boolean => connections.admit(address).ok;
    expect([isIn("::ffff:10.0.0.1"), isIn("::ffff:10.0.0.2"), isIn("10.0.0.1")]).toEqual([true, true, false]);
    expect([isIn("2001:db8:1:2::1"), isIn("2001:db8:1:2::2"), isIn("2001:db8:2::1")]).toEqual([true, false, true]);
  });

  test("that were closed count no more", () => {
    const connections = new Connections({ max: 2, perAddress: 1, isProxy: () => false });
    const first = connections.admit("10.0.0.1");
    expect(connections.admit("10.0.0.1")).toMatchObject({ ok: false, reason: "address" });
    if (first.ok) [1, 2].forEach(() => first.release());
    expect([connections.open, connections.admit("10.0.0.1").ok]).toEqual([0, true]);
  });

  test("that send nothing are ended after HEADERS_TIMEOUT_MS", async () => {
    const at = await start({ HEADERS_TIMEOUT_MS: 200 });
    expect(await wholeAnswer(await dial(at))).toMatch(/^HTTP\/1\.1 408 |^$/);
  });

  test("that send a head without an end are answered 408", async () => {
    const at = await start({ HEADERS_TIMEOUT_MS: 200 });
    expect(await wholeAnswer(await dial(at, "GET / HTTP/1.1\r\nHost: x\r\nX-A: "))).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe("a body", () => {
  const HEAD = "POST /body HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";

  test("that stops coming is answered 408, and its connection ends", async () => {
    const at = await start({ BODY_STALL_MS: STALL_MS });
    const answer = await wholeAnswer(await dial(at, `${HEAD}Content-Length: 100\r\n\r\n{"a":`));
    expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"REQUEST_TIMEOUT"/);
    expect(refusals).toEqual(["stalled"]);
  });

  test("that stops coming in chunks is, too", async () => {
    const at = await start({ BODY_STALL_MS: STALL_MS });
    const answer = await wholeAnswer(await dial(at, `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":`));
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("a client that waits for its answer is not ended", async () => {
    const at = await start({ BODY_STALL_MS: STALL_MS });
    const waiting = await dial(at, "GET /never HTTP/1.1\r\nHost: x\r\n\r\n");
    const stalled = await dial(at, `${HEAD}Content-Length: 100\r\n\r\n{"a":`);
    await wholeAnswer(stalled);
    await wholeAnswer(await dial(at, `${HEAD}Content-Length: 100\r\n\r\n{"a":`));
    expect(waiting.destroyed || waiting.readableEnded).toBe(false);
  });

  test("a client that does not read its answer is ended", async () => {
    const at = await start({ BODY_STALL_MS: STALL_MS });
    const deaf = await dial(at, "GET /much HTTP/1.1\r\nHost: x\r\n\r\n");
    deaf.pause();
    await muchEnded;
    expect((await wholeAnswer(deaf)).length).toBeLessThan(MUCH_BYTES);
  });
});

/** Without a wall clock: a window is what the test says it is. */
describe("the pace", () => {
  const STALL = { stallMs: 1_000, minBytesPerSecond: 100 };

  function body(): { incoming: Incoming; state: { bytes: number; ours: boolean; complete: boolean; ended: number } } {
    const state = { bytes: 0, ours: false, complete: false, ended: 0 };
    const incoming: Incoming = {
      bytesRead: () => state.bytes,
      waitsForUs: () => state.ours,
      isComplete: () => state.complete,
      giveUp: () => (state.ended += 1),
    };
    return { incoming, state };
  }

  function run(steps: number, each: (state: ReturnType<typeof body>["state"]) => void): number {
    const pace = new Pace(STALL);
    const { incoming, state } = body();
    pace.watch(incoming, 0);
    for (let step = 1; step <= steps; step++) {
      each(state);
      pace.check(step * 250);
    }
    return state.ended;
  }

  test("a slow upload that goes on is never ended, however long it takes", () => {
    expect(run(400_000, (state) => (state.bytes += 25))).toBe(0);
  });

  test("one that trickles is ended once", () => {
    expect(run(40, (state) => (state.bytes += 1))).toBe(1);
  });

  test("a silence within a window is forgiven", () => {
    let step = 0;
    expect(run(400, (state) => (state.bytes += step++ % 4 === 0 ? 100 : 0))).toBe(0);
  });

  test("time in which the disk was waited for does not count", () => {
    expect(run(400, (state) => (state.ours = true))).toBe(0);
  });

  test("what is complete is not watched any more", () => {
    expect(run(40, (state) => (state.complete = true))).toBe(0);
  });
});

test("the defaults let a large upload take its time", () => {
  expect(HTTP_DEFAULTS).toEqual({
    CONNECTIONS_MAX: 10_000,
    CONNECTIONS_PER_ADDRESS: 512,
    HEADERS_TIMEOUT_MS: 10_000,
    BODY_STALL_MS: 120_000,
    BODY_MIN_BYTES_PER_SECOND: 1_000,
    BODY_BYTES_PER_CALLER: 256_000_000,
  });
});

async function until<T>(look: () => Promise<T>, isEnough: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look();
    if (isEnough(value)) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
