import { once } from "node:events";
import { connect } from "node:net";

import { afterEach, describe, expect, test } from "@jest/globals";

import type { Authenticator } from "@sluice/access";

import {
  callers,
  type EventStream,
  type EventStreamsOptions,
  type HttpServer,
  makeEventStreams,
} from "../src/index.ts";
import { type StreamChange } from "../src/index.ts";
import { readEvents, serve } from "./support.ts";

let server: HttpServer;
afterEach(() => server.close(0));

async function start(options: EventStreamsOptions = {}) {
  const changes: StreamChange[] = [];
  const opened: EventStream[] = [];
  const streams = makeEventStreams({ onChange: (change) => changes.push(change), ...options });
  server = await serve(
    (app) =>
      app.get("/events", (request, response) => {
        const stream = streams.open(request, response);
        if (stream !== null) opened.push(stream);
      }),
    { onClose: () => streams.close() },
  );
  const listenTo = async (headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}/events`, { headers });
    return { response, events: readEvents(response), stream: opened.at(-1)! };
  };
  return { streams, changes, opened, listenTo };
}

describe("a stream", () => {
  test("carries events with names, ids and JSON, unbuffered and uncompressed", async () => {
    const { listenTo } = await start();
    const { response, events, stream } = await listenTo({ "accept-encoding": "gzip, br" });
    stream.send({ event: "batch", id: "7", data: { text: "two\nlines" } });
    stream.send({ event: "x\nid: forged", data: null });
    stream.end();
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store, no-transform");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(await events.next()).toEqual({ retry: "3000" });
    expect(await events.next()).toEqual({ event: "batch", id: "7", data: { text: "two\nlines" } });
    expect(await events.next()).toEqual({ event: "x id: forged", data: null });
    expect(await events.next()).toBeNull();
  });

  test("knows what the listener saw before a break", async () => {
    const { listenTo } = await start();
    expect((await listenTo()).stream.lastEventId).toBeNull();
    expect((await listenTo({ "last-event-id": "42" })).stream.lastEventId).toBe("42");
  });

  test("answers a HEAD with its headers, and ends", async () => {
    const { opened } = await start();
    const response = await fetch(`${server.url}/events`, { method: "HEAD" });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect([await response.text(), opened]).toEqual(["", []]);
  });

  test("beats while nothing happens", async () => {
    const { listenTo } = await start({ heartbeatMs: 5 });
    const { events } = await listenTo();
    await events.next();
    expect(await events.next()).toEqual({ comment: "still here" });
  });

  test("is closed when the listener goes, and no longer counted", async () => {
    const { listenTo, streams, changes } = await start();
    const { events, stream } = await listenTo();
    expect(streams.count).toBe(1);
    const closed = once(stream.closed, "abort");
    await events.cancel();
    await closed;
    expect([streams.count, changes]).toEqual([0, ["opened", "closed"]]);
  });
});

describe("one listener too many", () => {
  test("is refused with a problem and when to ask again; there is room when another goes", async () => {
    const { listenTo, changes } = await start({ streamsMax: 1 });
    const first = await listenTo();
    const refused = await fetch(`${server.url}/events`);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"]);
    expect(await refused.json()).toMatchObject({ code: "UNAVAILABLE" });
    const closed = once(first.stream.closed, "abort");
    await first.events.cancel();
    await closed;
    expect((await listenTo()).response.status).toBe(200);
    expect(changes).toEqual(["opened", "refused", "closed", "opened"]);
  });
});

test("one caller cannot keep the others out: beyond their share they are told to come back", async () => {
  const streams = makeEventStreams({ streamsPerCallerMax: 2 });
  const opened: (EventStream | null)[] = [];
  const authenticator: Authenticator = {
    authenticate: (header) =>
      Promise.resolve({
        kind: "caller",
        caller: { id: header ?? "", name: "", role: "viewer", scope: "all", tenants: [] },
      }),
  };
  server = await serve(
    (app) => {
      app.use(callers({ authenticator }));
      app.get("/events", (request, response) => void opened.push(streams.open(request, response)));
    },
    { onClose: () => streams.close() },
  );
  const listen = (authorization: string) => fetch(`${server.url}/events`, { headers: { authorization } });
  const answers = [await listen("ada"), await listen("ada"), await listen("ada"), await listen("bob")];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 200]);
  expect(answers[2]!.headers.get("retry-after")).toBe("10");
  expect(await answers[2]!.json()).toMatchObject({ code: "TOO_MANY_REQUESTS" });
  const closed = once(opened[0]!.closed, "abort");
  await answers[0]!.body!.cancel();
  await closed;
  expect((await listen("ada")).status).toBe(200);
});

describe("a listener that does not read", () => {
  const BIG = "x".repeat(1_000_000);

  async function deaf(options: EventStreamsOptions) {
    const parts = await start(options);
    const socket = connect(server.port, "127.0.0.1");
    socket.pause();
    socket.on("error", () => undefined);
    socket.write("GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    while (parts.opened.length === 0) await new Promise(setImmediate);
    return { ...parts, socket, stream: parts.opened[0]! };
  }

  test("is cut off before it costs memory without bound", async () => {
    const { stream, changes, socket } = await deaf({ waitingMax: 20 });
    const closed = once(stream.closed, "abort");
    for (let i = 0; i < 100; i++) stream.send({ event: "e", data: BIG });
    await closed;
    expect(changes).toContain("cut");
    socket.destroy();
  });

  test("keeps only the newest of events that replace each other", async () => {
    const { stream, changes, socket } = await deaf({ waitingMax: 2 });
    for (let i = 0; i < 100; i++) stream.send({ event: "view", id: String(i), data: BIG }, "view");
    expect([stream.closed.aborted, changes]).toEqual([false, ["opened"]]);
    const ids: string[] = [];
    socket.on("data", (bytes: Buffer) => ids.push(...(bytes.toString().match(/(?<=^id: )\d+/gm) ?? [])));
    stream.end();
    socket.resume();
    await once(stream.closed, "abort");
    while (ids.at(-1) !== "99") await new Promise(setImmediate);
    expect(ids.length).toBeLessThan(50);
    socket.destroy();
  });

  test("is cut off after some heartbeats that it did not take", async () => {
    const { stream, changes, socket } = await deaf({ heartbeatMs: 2, silentBeatsMax: 2 });
    const closed = once(stream.closed, "abort");
    for (let i = 0; i < 20; i++) stream.send({ event: "e", data: BIG });
    await closed;
    expect(changes).toContain("cut");
    socket.destroy();
  });
});

describe("closing the server", () => {
  test("tells every listener when to come back, and does not wait for them", async () => {
    const { listenTo, streams } = await start({ random: () => 0.5 });
    const { events } = await listenTo();
    await events.next();
    await server.close(60_000);
    expect(await events.next()).toEqual({ retry: "3000" });
    expect(await events.next()).toEqual({ event: "reconnect", data: { after_ms: 3000 } });
    expect(await events.next()).toBeNull();
    expect(streams.count).toBe(0);
  });
});
