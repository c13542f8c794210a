/** What one caller can use up, and what all share. */
import { describe, expect, test } from "@jest/globals";
import type { Status } from "@sluice/job-queue";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { Errands } from "../src/bedrock/errands.ts";
import { type Guest, Lobby, LOBBY_LIMITS } from "../src/bedrock/lobby.ts";
import { RequestParser } from "../src/bedrock/request-parser.ts";
import { CONNECTION_LIMITS, WireConnection } from "../src/bedrock/wire-connection.ts";
import { MemoryQueue } from "./support/memory-queue.ts";
import { statusOf, WireTalk } from "./support/wire-talk.ts";

const NESTED = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;

describe("commands for whose answer nobody waits", () => {
  test("one tenant cannot take the places of all", async () => {
    const queue = new MemoryQueue();
    const talk = new WireTalk(queue);
    const later = `commandExecuteTime: ${(queue.now + 3_600_000) * 1000}`;
    const putOff = async (tenant: string): Promise<string> =>
      statusOf(await talk.say("DeleteJob", "jobID: 1", `tenant: ${tenant}`, later));
    for (let n = 0; n < 1_000; n++) expect(await putOff("greedy")).toBe("202 Successfully queued");
    expect(await putOff("greedy")).toBe("429 1000 commands of tenant greedy wait for their time: that is the limit");
    expect(await putOff("other")).toBe("202 Successfully queued");
    await talk.errands.close();
  });

  test("the places are free again when the commands have run", async () => {
    const errands = new Errands(() => () => undefined, {
      onError: () => undefined,
      limits: { all: 2, perTenant: 1 },
    });
    const ends: (() => void)[] = [];
    const errand = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
    expect(errands.accept("a", 0, errand)).toBe("accepted");
    expect(errands.accept("a", 0, errand)).toBe("tenant-full");
    expect(errands.accept("b", 0, errand)).toBe("accepted");
    expect(errands.accept("c", 0, errand)).toBe("full");
    for (const end of ends) end();
    await errands.close();
    expect(errands.accept("a", 0, () => Promise.resolve())).toBe("accepted");
  });

  test("one that fails is told to us, and ends nothing", async () => {
    const errors: unknown[] = [];
    const errands = new Errands(() => () => undefined, { onError: (error) => errors.push(error) });
    const broken = new RangeError("Maximum call stack size exceeded");
    errands.accept("a", 0, () => Promise.reject(broken));
    errands.accept("a", 0, () => {
      throw broken;
    });
    await errands.close();
    expect(errors).toEqual([broken, broken]);
    expect(errands.accept("a", 0, () => Promise.resolve())).toBe("accepted");
  });

  test("data that is nested thousands deep is refused, waited for or not", async () => {
    const talk = new WireTalk(new MemoryQueue());
    const body = (verb: string, content: string, ...head: readonly string[]): Promise<string> =>
      talk.send([verb, ...head, `Content-Length: ${content.length}`, "", content].join("\r\n"));
    const refused = "402 Data is nested more than 100 levels deep";
    for (const connection of ["forget", "wait"])
      expect(statusOf(await body("CreateJob", `{"name":"a","data":${NESTED}}`, `Connection: ${connection}`))).toBe(
        refused,
      );
    expect(statusOf(await talk.say("CreateJob", "name: a", `data: ${NESTED}`, "Connection: forget"))).toBe(refused);
    await talk.errands.close();
  });
});

describe("a query", () => {
  /** Doubling the text must not make it four times the work: what is quadratic takes minutes for this one. */
  test("of megabytes of blanks is read in linear time", async () => {
    const talk = new WireTalk(new MemoryQueue());
    const blanks = " ".repeat(1_500_000);
    expect(statusOf(await talk.say("Query", `query: select * from jobs${blanks};${blanks}x`))).toBe(
      "402 Malformed query",
    );
    expect(statusOf(await talk.say("Query", `query: select${blanks}* from jobs${blanks};`))).toBe("200 OK");
  });
});

test("a query's answer that is cut says how to go on", async () => {
  const queue = new MemoryQueue();
  const talk = new WireTalk(queue);
  const jobs = JSON.stringify(Array.from({ length: 5_001 }, (_, n) => ({ name: `n${n}` })));
  const body = `{"jobs":${jobs}}`;
  for (let n = 0; n < 2; n++)
    expect(statusOf(await talk.send(`CreateJobs\r\nContent-Length: ${body.length}\r\n\r\n${body}`))).toBe("200 OK");
  const first = await talk.say("Query", "query: select * from jobs");
  const [, next] = /^Next: (\d+)\r?$/m.exec(first) ?? [];
  const rest = await talk.say("Query", "query: select * from jobs", `after: ${next}`);
  const rows = (answer: string): number => (JSON.parse(answer.split(/\r?\n\r?\n/)[1] ?? "[]") as unknown[]).length;
  expect([rows(first), rows(rest), rest.includes("Next:")]).toEqual([10_000, 2, false]);
  expect(statusOf(await talk.say("Query", "query: select * from jobs", "after: x"))).toBe("402 Malformed after");
  await talk.errands.close();
});

describe("what a browser sends", () => {
  const parse = (...lines: readonly string[]): readonly string[] =>
    new RequestParser()
      .push(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`))
      .map((item) => (item.kind === "fault" ? `${item.fatal ? "ends: " : ""}${item.status.text}` : item.verb));
  const HTTP = "ends: This port speaks Bedrock's protocol: HTTP has a port of its own";

  test("is no command, in whatever way a page makes it ask", () => {
    expect(parse("POST / HTTP/1.1", "Content-Length: 0")).toEqual([HTTP]);
    expect(parse("GET /?CreateJob HTTP/1.1")).toEqual([HTTP]);
    // A name that was made to lead here is its own origin: the page may use any method and any header.
    expect(parse("CreateJob / HTTP/1.1", "Host: evil.example:8888", "name: a")).toEqual([HTTP]);
    expect(parse("CreateJob / HTTP/1.1", "name: a", "Origin: http://evil.example")).toEqual([HTTP]);
    expect(parse("CreateJob / HTTP/1.1", "name: a", "Sec-Fetch-Site: cross-site")).toEqual([HTTP]);
  });

  test("is nothing that hides a command in its body", () => {
    const body = "CreateJob\r\nname: a\r\n\r\n";
    expect(parse("POST / HTTP/1.1", "Content-Type: text/plain", "", body)).toEqual([HTTP]);
  });

  test("what Bedrock's own clients send is one, with a line like HTTP's too", () => {
    expect(parse("CreateJob / HTTP/1.1", "name: a")).toEqual(["CreateJob"]);
  });
});

describe("connections", () => {
  class Peer implements Guest {
    away: Status | null = null;
    turnAway(status: Status): void {
      this.away = status;
    }
  }
  const lobby = (): Lobby => new Lobby({ connections: 3, perTenant: 2, strangersBytes: 1_000 });

  test("over which nobody was accepted make room for others", () => {
    const there = lobby();
    const [known, idle, late, last] = [new Peer(), new Peer(), new Peer(), new Peer()];
    for (const each of [known, idle, late]) there.enter(each);
    expect(there.admit(known, "a")).toBeNull();
    there.enter(last);
    expect([known.away, idle.away?.code, late.away, last.away]).toEqual([null, 503, null, null]);
    expect(there.size).toBe(3);
  });

  test("one tenant has only so many, and others still find room", () => {
    const there = lobby();
    const peers = Array.from({ length: 3 }, () => new Peer());
    for (const each of peers) there.enter(each);
    const answers = peers.map((each) => there.admit(each, "greedy")?.text ?? null);
    expect(answers).toEqual([null, null, "Tenant greedy has 2 connections: that is the limit"]);
    expect(there.admit(peers[2]!, "other")).toBeNull();
    const more = new Peer();
    there.enter(more);
    expect(more.away?.code).toBe(503);
    there.leave(peers[0]!);
    const again = new Peer();
    there.enter(again);
    expect(there.admit(again, "greedy")).toBeNull();
  });

  test("before a request is accepted they share a bound of bytes", () => {
    const there = lobby();
    const [first, second, known] = [new Peer(), new Peer(), new Peer()];
    for (const each of [first, second, known]) there.enter(each);
    there.admit(known, "a");
    there.hold(known, 4_000_000);
    there.hold(first, 600);
    there.hold(second, 500);
    expect([first.away, second.away?.code, known.away]).toEqual([null, 413, null]);
    there.leave(second);
    there.hold(first, 0);
    there.hold(first, 900);
    expect(first.away).toBeNull();
  });
});

describe("a connection from another machine", () => {
  /** A socket whose other end is the test's. */
  class Line extends Duplex {
    heard = "";
    override _read(): void {
      // What is said comes by `push`.
    }
    override _write(chunk: Buffer, _encoding: string, done: () => void): void {
      this.heard += chunk.toString();
      done();
    }
  }

  function connect(isNear: boolean): { readonly line: Line; readonly queue: MemoryQueue } {
    const queue = new MemoryQueue();
    const onError = (error: unknown): void => {
      throw error;
    };
    const errands = new Errands(queue.later, { onError });
    const ports = { queue, errands, now: () => queue.now, later: queue.later, hear: () => undefined, onError };
    const line = new Line();
    new WireConnection(
      line as unknown as Socket,
      { name: "tcp test", address: isNear ? "127.0.0.1" : "192.0.2.1", isNear },
      {
        ...ports,
        admit: ({ headers }) =>
          headers.has("token") ? { tenant: "default" } : { refused: { code: 401, text: "Unauthorized" } },
      },
      CONNECTION_LIMITS,
      new Lobby(LOBBY_LIMITS),
    );
    return { line, queue };
  }
  const ENDED = "408 No request was accepted here in time";

  test.each([
    ["that says nothing", "", [ENDED]],
    ["whose request has begun and not ended", "CreateJob\r\nname: a\r\n", [ENDED]],
    ["whose request was refused", "QueryJob\r\njobID: 1\r\n\r\n", ["401 Unauthorized", ENDED]],
  ])("is ended after 30 s if it is one %s", async (_, said, answers) => {
    const { line, queue } = connect(false);
    if (said !== "") line.push(said);
    await queue.pass(29_999);
    expect([line.heard, line.writableEnded]).toEqual([answers.length > 1 ? expect.stringContaining("401") : "", false]);
    await queue.pass(1);
    expect(line.heard.match(/^\d{3} .*$/gm)).toEqual(answers);
    expect(line.writableEnded).toBe(true);
  });

  test("over which a request was accepted stays, and so does one of this machine", async () => {
    const known = connect(false);
    known.line.push("QueryJob\r\njobID: 1\r\ntoken: x\r\n\r\n");
    const near = connect(true);
    for (const { line, queue } of [known, near]) {
      await queue.pass(60_000);
      expect([line.heard.includes("408"), line.writableEnded]).toEqual([false, false]);
      line.destroy();
    }
  });
});
