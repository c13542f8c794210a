import { getEventListeners } from "node:events";
import { describe, expect, test } from "@jest/globals";
import { eachAtMost, type WalkAnswer } from "../src/index.ts";

/** Work whose end the test decides. */
function controlled() {
  const begun: number[] = [];
  const ends = new Map<number, (answer: WalkAnswer | Error) => void>();
  let onBegin = (): void => undefined;
  const work = (item: number): Promise<WalkAnswer> =>
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
  return { begun, end: (item: number, answer: WalkAnswer | Error) => ends.get(item)?.(answer), work, untilBegun };
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

  test("tells all that runs when one piece of work aborts", async () => {
    const ended: string[] = [];
    const untilAborted = (name: string, signal: AbortSignal) =>
      new Promise<WalkAnswer>((resolve) =>
        signal.addEventListener("abort", () => {
          ended.push(name);
          resolve("go-on");
        }),
      );
    await eachAtMost(["a", "b", "c", "d"], 3, (item, signal) =>
      item === "c" ? Promise.resolve("abort") : untilAborted(item, signal),
    );
    expect(ended).toEqual(["a", "b"]);
  });

  test("passes on the wish of others to stop, also one from before", async () => {
    const stop = new AbortController();
    const seen: boolean[] = [];
    const look = (_item: number, signal: AbortSignal): Promise<WalkAnswer> => {
      seen.push(signal.aborted);
      stop.abort();
      seen.push(signal.aborted);
      return Promise.resolve("go-on");
    };
    await eachAtMost([1], 1, look, [new AbortController().signal, stop.signal]);
    await eachAtMost([1], 1, look, [stop.signal]);
    expect(seen).toEqual([false, true, true, true]);
  });

  test("leaves no listener on a signal that outlives it", async () => {
    const long = new AbortController();
    await eachAtMost([1, 2], 1, () => Promise.resolve("go-on"), [long.signal]);
    expect(getEventListeners(long.signal, "abort")).toEqual([]);
  });
});
