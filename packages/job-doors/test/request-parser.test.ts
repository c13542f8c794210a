/** Requests in whatever pieces they come, and what is none. */
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RequestParser, type WireFault, type WireLimits, type WireRequest } from "../src/bedrock/request-parser.ts";

const LIMITS: WireLimits = { verbBytes: 64, headBytes: 256, headers: 5, contentBytes: 32 };

const parse = (text: string | Buffer, limits = LIMITS): (WireRequest | WireFault)[] =>
  new RequestParser(limits).push(Buffer.from(text));

const plain = (items: readonly (WireRequest | WireFault)[]): unknown[] =>
  items.map((item) =>
    item.kind === "request"
      ? [item.verb, Object.fromEntries(item.headers), item.content]
      : [item.status.code, item.fatal ? "fatal" : "goes on"],
  );

describe("requests", () => {
  test.each(["\n", "\r\n"])("lines end with %j", (end) => {
    const text = ["CreateJob", "Name: foo", 'data : {"a": 1} ', "", ""].join(end);
    expect(plain(parse(text))).toEqual([["CreateJob", { name: "foo", data: '{"a": 1}' }, ""]]);
  });

  test("come one after the other, with empty lines between them", () => {
    expect(plain(parse("\n\r\nA\nx: 1\n\nB / HTTP/1.1\r\ncontent-length: 5\r\n\r\nüx\n\nC\n\n"))).toEqual([
      ["A", { x: "1" }, ""],
      ["B", { "content-length": "5" }, "üx\n\n"],
      ["C", {}, ""],
    ]);
  });

  test("of a name that comes twice the last counts; a text may have colons and be empty", () => {
    expect(plain(parse("A\nx: 1\nX: 2:3\ny:\n\n"))).toEqual([["A", { x: "2:3", y: "" }, ""]]);
  });

  test("are the same however they are cut", () => {
    const whole = Buffer.from("A\r\nx: ü\r\n\r\n\nB\ncontent-length: 4\n\nüü\r\nC\nbroken\n\nD\n\n");
    const expected = plain(parse(whole));
    expect(expected).toHaveLength(4);
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 12 }), (cuts) => {
        const parser = new RequestParser(LIMITS);
        const places = [0, ...cuts.sort((a, b) => a - b), whole.length];
        const found = places.flatMap((place, n) => (n === 0 ? [] : parser.push(whole.subarray(places[n - 1], place))));
        expect(plain(found)).toEqual(expected);
        expect(parser.isPartial).toBe(false);
      }),
    );
  });

  test("say what they took, so that what waits can be counted", () => {
    const text = "A\r\nx: ü\r\ncontent-length: 3\r\n\r\nabc";
    expect(parse(text).map(({ bytes }) => bytes)).toEqual([Buffer.byteLength(text)]);
  });

  test("one that has begun is known", () => {
    const parser = new RequestParser(LIMITS);
    expect(parser.isPartial).toBe(false);
    for (const piece of ["Crea", "teJob\n", "name: x\ncontent-length: 2\n", "\n", "a"]) {
      expect(parser.push(Buffer.from(piece))).toEqual([]);
      expect(parser.isPartial).toBe(true);
    }
    expect(parser.push(Buffer.from("b"))).toHaveLength(1);
    expect(parser.isPartial).toBe(false);
  });
});

describe("what is no request", () => {
  test("a line without a name refuses its request, not the next", () => {
    expect(plain(parse("A\nwhat is this\n\nB\n: x\n\nC\n\n"))).toEqual([
      [400, "goes on"],
      [400, "goes on"],
      ["C", {}, ""],
    ]);
  });

  test.each([
    ["binary junk", Buffer.from([0x16, 0x03, 0x01, 0x0a, 0x00]), 400],
    ["a line that begins with no verb", "{}\n", 400],
    ["two lengths", "A\ncontent-length: 1\ncontent-length: 2\n\n", 400],
    ["a length that is none", "A\ncontent-length: -1\n\n", 400],
    ["a length that cannot be", "A\ncontent-length: 99999999999999999999\n\n", 400],
    ["chunks", "A\ntransfer-encoding: chunked\n\n", 400],
    ["an endless verb", "A".repeat(65), 413],
    ["an endless header", `A\nx: ${"x".repeat(256)}`, 413],
    ["endless headers", `A\n${"x: x\n".repeat(60)}`, 413],
    ["many headers", `A\n${["a", "b", "c", "d", "e", "f"].map((name) => `${name}: 1\n`).join("")}\n`, 413],
    ["too much content", "A\ncontent-length: 33\n\n", 413],
  ])("%s ends the talk", (_what, text, code) => {
    const parser = new RequestParser(LIMITS);
    expect(plain(parser.push(Buffer.from(text)))).toEqual([[code, "fatal"]]);
    expect(parser.push(Buffer.from("\n\nA\n\n"))).toEqual([]);
  });

  test("whatever comes is a value, and little is kept", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }), (chunks) => {
        const parser = new RequestParser(LIMITS);
        for (const chunk of chunks)
          for (const item of parser.push(Buffer.from(chunk)))
            expect(item.kind === "request" ? item.bytes : 0).toBeLessThanOrEqual(256 + 32 + 64);
      }),
    );
  });
});
