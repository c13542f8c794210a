/** A result that is too large for the tree, on its way to the job that works on it. */
import { expect, test } from "@jest/globals";
import { createHash } from "node:crypto";
import type { BlobRef, BlobStore } from "../src/blobs.ts";
import { fetchLarge, storeLarge } from "../src/shard/large.ts";
import { isStatus } from "../src/shard/params.ts";
import { readCommand } from "../src/shard/request.ts";
import { Bench } from "./support/bench.ts";

const kept = new Map<string, Buffer>();
const blobs: BlobStore = {
  put(bytes): Promise<BlobRef> {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    kept.set(sha256, bytes);
    return Promise.resolve({ sha256, bytes: bytes.length });
  },
  get: ({ sha256 }) => Promise.resolve(kept.get(sha256) ?? null),
};

test("M22: the follow-on job gets a large result as it gets a small one, also from another owner", async () => {
  const bench = new Bench();
  const id = bench.create({ name: "first", onFinish: "second" });
  const { token } = bench.get("first");
  const result = `"${"r".repeat(100_000)}\n`;
  const fields = { jobID: String(id), lease: token, exitCode: "201", result };
  const command = readCommand("FinishJob", fields, { tenant: "default", caller: { kind: "worker", worker: "w" } });
  const stored = isStatus(command) ? command : await storeLarge(command, blobs);
  if (isStatus(stored)) throw new Error(stored.text);
  expect(bench.run(stored).status.code).toBe(200);
  bench.takeOver();
  const whole = await fetchLarge(bench.reply("GetJob", { name: "second" }), blobs);
  const [job] = whole?.content.kind === "taken" ? whole.content.jobs : [];
  expect(JSON.parse(job?.view.data ?? "")).toEqual({ from: { jobID: id, name: "first", exit: 201 }, payload: result });
});

test("M22: the follow-on job of a handler is made for whoever names none, and only after a good end", () => {
  const bench = new Bench();
  const end = (params: Record<string, string>, exitCode = 200): string[] => {
    const id = bench.create({ name: "first", ...params });
    const { token } = bench.get("first");
    expect(bench.ask("FinishJob", { jobID: id, lease: token, exitCode, onFinish: "handlers" })).toBe("200 OK");
    return [...bench.shard.jobs()].map(([, { name }]) => name);
  };
  expect(end({})).toEqual(["handlers"]);
  expect(end({}, 404)).toEqual(["handlers"]);
  expect(end({ onFinish: "own" })).toEqual(["handlers", "own"]);
  const id = bench.create({ name: "first" });
  const { token } = bench.get("first");
  const long = { jobID: id, lease: token, onFinish: "x".repeat(256) };
  expect(bench.ask("FinishJob", long)).toBe("402 Malformed onFinish");
});

test("M2: nobody is given what stands in the store by naming it in a job's data", async () => {
  const { sha256 } = await blobs.put(Buffer.from("another tenant's"));
  const bench = new Bench();
  const data = { dataRef: { sha256, bytes: 16, as: "payload" }, payloadRef: { sha256, bytes: 16 } };
  bench.create({ name: "thief", data: JSON.stringify(data) });
  const whole = await fetchLarge(bench.reply("GetJob", { name: "thief" }), blobs);
  const [job] = whole?.content.kind === "taken" ? whole.content.jobs : [];
  expect(JSON.parse(job?.view.data ?? "")).toEqual(data);
});
