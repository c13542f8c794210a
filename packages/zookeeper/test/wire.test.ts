import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { codeOf, faultOf } from "../src/wire/codes.ts";
import { FrameAssembler } from "../src/wire/frames.ts";
import { JuteReader, JuteWriter, Malformed } from "../src/wire/jute.ts";
import {
  decodeConnectResponse,
  decodeMulti,
  decodeMultiRead,
  decodeNode,
  decodeReply,
  decodeWatchEvent,
} from "../src/wire/replies.ts";
import { encodeExists, encodeMulti, encodeSetWatches, numberFrame, opBytes } from "../src/wire/requests.ts";
import { openToEveryone } from "../src/acl.ts";
import type { Op } from "../src/index.ts";

const hex = (buffer: Buffer): string => buffer.toString("hex");

describe("requests", () => {
  test("exists is a length, a number, an opcode, a path and a flag", () => {
    const { frame } = encodeExists("/ab", true);
    expect(hex(numberFrame(frame, 7))).toBe("00000010" + "00000007" + "00000003" + "00000003" + "2f6162" + "01");
  });

  test("a multi says each op's own version, zero included, and ends with a closing header", () => {
    const ops: Op[] = [
      { op: "check", path: "/a", version: 0 },
      { op: "set", path: "/a", data: Buffer.from("x"), version: 0 },
      { op: "delete", path: "/a", version: 0 },
      { op: "check", path: "/a" },
    ];
    const a = "00000004" + "2f722f61"; // "/r/a"
    const header = (opcode: string): string => `${opcode}00ffffffff`;
    const expected = [
      [header("0000000d"), a, "00000000"],
      [header("00000005"), a, "00000001", "78", "00000000"],
      [header("00000002"), a, "00000000"],
      [header("0000000d"), a, "ffffffff"],
      ["ffffffff", "01", "ffffffff"],
    ];
    expect(hex(encodeMulti(ops, "/r", openToEveryone).frame).slice(24)).toBe(expected.flat().join(""));
  });

  test("the size foretold for an op is never below its size in the multi", () => {
    const path = fc.stringMatching(/^\/[a-zé€]{1,30}$/);
    const data = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
    const op: fc.Arbitrary<Op> = fc.oneof(
      fc.record({ op: fc.constant("create" as const), path, data }),
      fc.record({ op: fc.constant("set" as const), path, data, version: fc.nat() }),
      fc.record({ op: fc.constant("delete" as const), path, version: fc.nat() }),
      fc.record({ op: fc.constant("check" as const), path, version: fc.nat() }),
    );
    const empty = encodeMulti([], "", openToEveryone).frame.length;
    fc.assert(
      fc.property(op, (one) => {
        expect(opBytes(one, openToEveryone)).toBeGreaterThanOrEqual(
          encodeMulti([one], "", openToEveryone).frame.length - empty,
        );
      }),
    );
  });

  test("watches beyond what fits in a frame go out in several, none of them near a server's limit", () => {
    const watched = Array.from({ length: 12_000 }, (_, i) => ({
      kind: i % 2 === 0 ? ("data" as const) : ("children" as const),
      path: `/${"long-name-".repeat(9)}${i}`,
    }));
    const frames = encodeSetWatches(5n, watched);
    expect(Math.max(...frames.map((frame) => frame.length))).toBeLessThan(150_000);
    const seen = frames.flatMap((frame) => {
      const reader = new JuteReader(frame, 12);
      expect(reader.long()).toBe(5n);
      return [...reader.texts(), ...reader.texts(), ...reader.texts()];
    });
    expect(seen.sort()).toEqual(watched.map((watch) => watch.path).sort());
    expect(encodeSetWatches(5n, [])).toEqual([]);
  });
});

describe("jute", () => {
  test("what is written is read back, however often the buffer had to grow", () => {
    const value = fc.record({
      int: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      long: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      flag: fc.boolean(),
      text: fc.string({ unit: "grapheme" }),
      bytes: fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)),
      texts: fc.array(fc.string()),
    });
    fc.assert(
      fc.property(value, (each) => {
        const writer = new JuteWriter(0);
        writer.int(0);
        writer.int(each.int);
        writer.long(each.long);
        writer.bool(each.flag);
        writer.text(each.text);
        writer.bytes(each.bytes);
        writer.texts(each.texts);
        const reader = new JuteReader(writer.finishFrame());
        reader.int();
        const back = {
          int: reader.int(),
          long: reader.long(),
          flag: reader.bool(),
          text: reader.text(),
          bytes: reader.bytes(),
          texts: reader.texts(),
        };
        expect(back).toEqual(each);
        expect(reader.rest()).toHaveLength(0);
      }),
    );
  });

  test("bytes that end early are malformed, whatever is read", () => {
    expect(() => new JuteReader(Buffer.alloc(3)).int()).toThrow(Malformed);
    expect(() => new JuteReader(Buffer.from("0000000561", "hex")).text()).toThrow(Malformed);
    expect(() => decodeReply(Buffer.alloc(0))).toThrow(Malformed);
    expect(() => decodeNode(Buffer.alloc(10))).toThrow(Malformed);
    expect(() => decodeConnectResponse(Buffer.alloc(7))).toThrow(Malformed);
  });

  test("a length of -1 is jute's null: empty data", () => {
    const stat = "00".repeat(68);
    expect(decodeNode(Buffer.from(`ffffffff${stat}`, "hex")).data).toHaveLength(0);
  });
});

describe("replies", () => {
  test("the first op of a multi that is not fine is to blame, with a code unknown to every client too", () => {
    const ops: Op[] = [
      { op: "check", path: "/a" },
      { op: "delete", path: "/b", version: 3 },
      { op: "check", path: "/c" },
    ];
    const error = (err: number): string => {
      const code = Buffer.alloc(4);
      code.writeInt32BE(err);
      return `ffffffff00${code.toString("hex")}${code.toString("hex")}`;
    };
    const body = (err: number): Buffer => Buffer.from(`${error(0)}${error(err)}${error(-2)}ffffffff01ffffffff`, "hex");
    expect(decodeMulti(body(-111), 9n, ops)).toEqual({ ok: false, code: "NOT_EMPTY", detail: "delete /b", index: 1 });
    expect(decodeMulti(body(-127), 9n, ops)).toMatchObject({ code: "SERVER_ERROR", index: 1 });
  });

  test("a read that failed says so in its place", () => {
    const error = "ffffffff00ffffff9affffff9a"; // -102
    const none = "ffffffff00ffffff9bffffff9b"; // -101
    expect(decodeMultiRead(Buffer.from(`${error}${none}ffffffff01ffffffff`, "hex"))).toEqual([
      { kind: "error", code: "NO_AUTH" },
      { kind: "none" },
    ]);
  });

  test("every error number has a code, listed or not", () => {
    expect(codeOf(-103)).toBe("BAD_VERSION");
    expect([-118, -124, -125, -9999].map(codeOf)).toEqual(Array(4).fill("SERVER_ERROR"));
    expect(faultOf(-124, "/x").detail).toContain("-124");
  });

  test("an event of an unknown kind is none", () => {
    const event = (kind: string): Buffer => Buffer.from(`${kind}00000003000000022f61`, "hex");
    expect(decodeWatchEvent(event("00000003"))).toEqual({ change: "data", path: "/a" });
    expect(decodeWatchEvent(event("00000063"))).toBeNull();
    expect(decodeWatchEvent(event("ffffffff"))).toBeNull();
  });
});

describe("the frame assembler", () => {
  const frame = (body: string): Buffer => {
    const buffer = Buffer.alloc(4 + body.length, body, "latin1");
    buffer.writeInt32BE(body.length, 0);
    buffer.write(body, 4, "latin1");
    return buffer;
  };

  test("gives the same frames however the stream is cut into chunks", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 20 })),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (bodies, sizes) => {
          const ascii = bodies.map((body) => Buffer.from(body).toString("hex"));
          const stream = Buffer.concat(ascii.map(frame));
          const assembler = new FrameAssembler();
          const seen: string[] = [];
          for (let at = 0; at < stream.length;) {
            const size = sizes.next().value as number;
            seen.push(...assembler.push(stream.subarray(at, at + size)).map(String));
            at += size;
          }
          expect(seen).toEqual(ascii);
        },
      ),
    );
  });

  test("takes 50,000 frames in one chunk without nesting calls", () => {
    const stream = Buffer.concat(Array.from({ length: 50_000 }, () => frame("x")));
    expect(new FrameAssembler().push(stream)).toHaveLength(50_000);
  });

  test("an empty frame is a frame; an impossible length is malformed", () => {
    expect(new FrameAssembler().push(frame(""))).toEqual([Buffer.alloc(0)]);
    expect(() => new FrameAssembler().push(Buffer.from("ffffffff", "hex"))).toThrow(Malformed);
    expect(() => new FrameAssembler().push(Buffer.from("7fffffff", "hex"))).toThrow(Malformed);
  });
});
