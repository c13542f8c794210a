import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "@jest/globals";
import { folderSize, type VolumeSpace } from "@sluice/safe-io";
import { VolumeGuard } from "../src/volume-guard.ts";
import { content, endless } from "./content-server.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

const GB = 1_000_000_000;
const looked = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("at the limit of the volume", () => {
  let used = 0;
  const guard = (): VolumeGuard =>
    new VolumeGuard({
      space: () => Promise.resolve(used < 0 ? null : { totalBytes: 100 * GB, freeBytes: 100 * GB - used }),
      limit: 0.8,
      floorBytes: GB,
      stepBytes: GB,
    });
  const stopped = (stays: readonly { readonly signal: AbortSignal }[]): boolean[] =>
    stays.map(({ signal }) => signal.aborted);

  test("the job that is furthest beyond its promise stops, and the next only when that one has left", async () => {
    const here = guard();
    used = 81 * GB;
    const stays = [here.enter(40 * GB), here.enter(0), here.enter(1)];
    stays[0]!.took(40 * GB);
    stays[1]!.took(2 * GB);
    await looked();
    stays[2]!.took(30 * GB);
    await looked();
    expect(stopped(stays)).toEqual([false, true, false]);
    stays[1]!.leave();
    stays[2]!.took(32 * GB);
    await looked();
    expect(stopped(stays)).toEqual([false, true, true]);
  });

  test("nobody stops within what was promised, below the floor, or while the volume has room", async () => {
    const here = guard();
    used = 99 * GB;
    const [known, small, unknown] = [here.enter(50 * GB), here.enter(0), here.enter(0)];
    known.took(50 * GB);
    small.took(GB);
    await looked();
    used = 80 * GB;
    unknown.took(79 * GB);
    await looked();
    used = -1;
    unknown.took(90 * GB);
    await looked();
    expect(stopped([known, small, unknown])).toEqual([false, false, false]);
  });
});

describe("a job of which nobody knows how large it is", () => {
  const TOTAL_BYTES = 4_000_000;
  const STOPPED = {
    kind: "retry",
    code: "DOWNLOAD_FAILED",
    message: "it takes more room than the working volume has left: its size was not known",
  };
  let bench: Workbench;

  /** A volume that holds the working folder, and what others have on it. */
  async function bestow(usedByOthers: number): Promise<void> {
    const space = async (): Promise<VolumeSpace> => {
      const size = await folderSize(bench.root);
      const used = usedByOthers + (size.ok ? size.value : 0);
      return { totalBytes: TOTAL_BYTES, freeBytes: Math.max(0, TOTAL_BYTES - used) };
    };
    bench = await openWorkbench({
      limits: { fileMaxBytes: 1_000_000_000, overrunFactor: 10, overrunFloorBytes: 10_000 },
      archiveLimits: {},
      guard: new VolumeGuard({ space, limit: 0.8, floorBytes: 10_000, stepBytes: 10_000 }),
    });
  }

  afterEach(() => bench.close());

  test("has the room there is: two thousand times what another file of it was said to have, and more", async () => {
    await bestow(0);
    const large = Buffer.alloc(2_500_000, "x");
    const url = bench.server.on("/large.bin", (_request, response) => void response.writeHead(200).end(large));
    expect(await bench.run({ payload_url: url })).toMatchObject({
      kind: "done",
      changes: { spaceNeeded: large.length },
    });
  });

  test("and whose server never stops sending ends at the limit, and leaves nothing behind", async () => {
    await bestow(1_000_000);
    const url = bench.server.on("/a.bin", endless);
    expect(await bench.run({ payload_url: url })).toEqual({ ...STOPPED, delayMs: 60_000 });
    expect(await bench.list()).toEqual([]);
    expect(await bench.run({ payload_url: url }, { token: 6, attempt: 3 })).toEqual({ ...STOPPED, delayMs: 960_000 });
  });

  test("and whose container unpacks to more than there is room for ends at the limit, too", async () => {
    await bestow(1_000_000);
    const url = bench.server.on("/a.txt.gz", content(gzipSync(Buffer.alloc(50_000_000))));
    expect(await bench.run({ payload_url: url, payload_type: "container" })).toMatchObject(STOPPED);
    expect(await bench.list()).toEqual([]);
  });

  test("is not stopped where its small file finds the volume full already", async () => {
    await bestow(TOTAL_BYTES);
    const url = bench.server.on("/a.txt", content("small"));
    expect(await bench.run({ payload_url: url })).toMatchObject({ kind: "done" });
  });
});
