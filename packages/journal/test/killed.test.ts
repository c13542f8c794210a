import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { FAILPOINTS } from "../src/index.ts";
import { type Bench, contents, makeBench } from "./support.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

let bench: Bench;
beforeEach(async () => {
  bench = await makeBench();
});
afterEach(async () => {
  await bench.undo();
});

/** Runs it to its violent end; answers the last record that it was told to be safe, and the last it knew to be consumed. */
async function killedAt(step: string, times: number): Promise<{ appended: number; consumed: number }> {
  const args = ["packages/journal/test/doomed.mjs", bench.folder, step, String(times)];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const [said, ended] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(ended).toEqual([null, "SIGKILL"]);
  const last = (what: string): number => Number([...said.matchAll(new RegExp(`${what} (\\d+)`, "g"))].at(-1)?.[1] ?? 0);
  return { appended: last("appended"), consumed: last("consumed") };
}

test.each(FAILPOINTS.flatMap((step) => [1, 3].map((times) => [step, times] as const)))(
  "killed at %s, time %i: what was answered is there, in order, and what was consumed stays so",
  async (step, times) => {
    const { appended, consumed } = await killedAt(step, times);
    const { journal, report } = await bench.opened();
    const numbers = journal.waiting();
    const [first = appended + 1, last = appended] = [numbers[0], numbers.at(-1)];

    expect([report.damaged, report.missing]).toEqual([[], []]);
    expect(numbers).toEqual(Array.from({ length: last - first + 1 }, (_, i) => first + i));
    expect(await contents(journal)).toEqual(numbers.map((number) => `record ${number}`));
    // Nothing that was answered is missing; at most the one whose answer was cut off is there too.
    expect([appended, appended + 1]).toContain(last);
    // What was consumed does not come again; at most the step whose answer was cut off was done.
    expect([consumed + 1, consumed + 5, consumed + 4]).toContain(first);
  },
);

test("the end of its owner, however sudden, leaves the journal to the next one", async () => {
  await killedAt("journalAfterSync", 2);
  expect((await (await bench.open()).append(Buffer.from("next"))).kind).toBe("appended");
});
