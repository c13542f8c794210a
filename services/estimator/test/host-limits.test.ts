import { describe, expect, test } from "@jest/globals";
import { HostLimits } from "../src/host-limits.ts";

/** Tasks that run until the test lets them end. */
function tasks(limits: HostLimits) {
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (host: string, name: string): Promise<void> =>
    limits.run(host, async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      running.splice(running.indexOf(name), 1);
    });
  return { running, start, end: (name: string) => ends.get(name)?.() };
}

/** Long enough for every promise that can go on to have gone on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("requests", () => {
  test("to one host never exceed its limit, and the next begins when one ends", async () => {
    const { running, start, end } = tasks(new HostLimits({ perHost: 2, perProcess: 10 }));
    const all = ["a1", "a2", "a3"].map((name) => start("a", name));
    await settled();
    expect(running).toEqual(["a1", "a2"]);
    end("a1");
    await settled();
    expect(running).toEqual(["a2", "a3"]);
    end("a2");
    end("a3");
    await Promise.all(all);
  });

  test("of all hosts together never exceed the process's limit", async () => {
    const { running, start, end } = tasks(new HostLimits({ perHost: 2, perProcess: 3 }));
    const all = ["a1", "a2", "b1", "b2"].map((name) => start(name.charAt(0), name));
    await settled();
    expect(running).toEqual(["a1", "a2", "b1"]);
    for (const name of ["a1", "a2", "b1"]) end(name);
    await settled();
    expect(running).toEqual(["b2"]);
    end("b2");
    await Promise.all(all);
  });

  test("that wait for a slow host take no place away from the others", async () => {
    const { running, start, end } = tasks(new HostLimits({ perHost: 1, perProcess: 2 }));
    const all = ["a1", "a2", "a3", "b1"].map((name) => start(name.charAt(0), name));
    await settled();
    expect(running).toEqual(["a1", "b1"]);
    for (const name of ["b1", "a1"]) end(name);
    await settled();
    end("a2");
    await settled();
    end("a3");
    await Promise.all(all);
  });

  test("that fail free their places, and hosts no longer used are forgotten", async () => {
    const limits = new HostLimits({ perHost: 1, perProcess: 1 });
    await expect(limits.run("a", () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
    expect(limits.hostsInUse).toBe(0);
    expect(await limits.run("a", () => Promise.resolve(7))).toBe(7);
  });
});
