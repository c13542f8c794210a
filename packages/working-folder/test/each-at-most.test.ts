import { describe, expect, test } from "@jest/globals";
import { eachAtMost } from "../src/index.ts";

/** Work whose end the test decides. */
function controlled() {
  const begun: number[] = [];
  const ends = new Map<number, (answer: "go-on" | "stop" | Error) => void>();
  let onBegin = (): void => undefined;
  const work = (item: number): Promise<"go-on" | "stop"> =>
    new Promise((resolve, reject) => {
      ends.set(item, (answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      begun.push(item);
      onBegin();
    });
  const untilBegun = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (begun.length >= count) resolve();
      };
      onBegin = look;
      look();
    });
  return { begun, end: (item: number, answer: "go-on" | "stop" | Error) => ends.get(item)?.(answer), work, untilBegun };
}

describe("each at most", () => {
  test("works on all items, never on more than allowed at once", async () => {
    const { begun, end, work, untilBegun } = controlled();
    const all = eachAtMost([1, 2, 3, 4, 5], 2, work);
    for (const [item, next] of [
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 5],
    ] as const) {
      await untilBegun(next);
      expect(begun.length).toBe(next);
      end(item, "go-on");
    }
    end(5, "go-on");
    await all;
    expect(begun).toEqual([1, 2, 3, 4, 5]);
  });

  test("begins nothing after a stop, but ends what runs", async () => {
    const { begun, end, work, untilBegun } = controlled();
    let ended = false;
    const all = eachAtMost([1, 2, 3, 4], 2, work).then(() => {
      ended = true;
    });
    await untilBegun(2);
    end(1, "stop");
    await Promise.resolve();
    expect(ended).toBe(false);
    end(2, "go-on");
    await all;
    expect(begun).toEqual([1, 2]);
  });

  test("waits for what runs before it rejects", async () => {
    const { begun, end, work, untilBegun } = controlled();
    const all = eachAtMost([1, 2, 3], 2, work);
    await untilBegun(2);
    end(1, new Error("broken"));
    end(2, "go-on");
    await expect(all).rejects.toThrow("broken");
    expect(begun).toEqual([1, 2]);
  });

  test("reads no further ahead than it works", async () => {
    let read = 0;
    function* endless() {
      for (;;) yield (read += 1);
    }
    await eachAtMost(endless(), 2, (item) => Promise.resolve(item >= 5 ? "stop" : "go-on"));
    expect(read).toBeLessThanOrEqual(8);
  });

  test("closes its source when it stops early", async () => {
    let closed = false;
    async function* source() {
      try {
        for (let n = 0; ; n += 1) yield await Promise.resolve(n);
      } finally {
        closed = true;
      }
    }
    await eachAtMost(source(), 1, () => Promise.resolve("stop"));
    expect(closed).toBe(true);
  });
});
