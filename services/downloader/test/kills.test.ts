/** F26: the real process, killed by kill -9 in the middle of a file. */
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type Child, startChild } from "@sluice/local-parts";
import { jobFolder, placeOfJob } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
import { content, ranged } from "./content-server.ts";
import { type RunningDownloader, startDownloader } from "./running-downloader.ts";

const MAIN = fileURLToPath(new URL("../../../dist/programs/downloader.js", import.meta.url));

let fleet: RunningDownloader;
const children: Child[] = [];
beforeEach(async () => {
  fleet = await startDownloader({}, false);
});
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill("SIGKILL")));
  await fleet.close();
});

async function start(): Promise<Child> {
  const child = await startChild({
    command: process.execPath,
    args: [MAIN],
    cwd: fleet.root,
    logFile: join(fleet.root, "downloader.log"),
    env: {
      ...process.env,
      ZOOKEEPER_CONNECT: fleet.connect,
      ZK_SESSION_TIMEOUT_MS: "4000",
      WORKING_DIR: join(fleet.root),
      EGRESS_ALLOW: `127.0.0.1:${fleet.server.port}`,
      METRICS_PORT: "0",
      POLL_INTERVAL_MS: "100",
      IDLE_POLL_INTERVAL_MS: "100",
    },
  });
  children.push(child);
  return child;
}

test.each([
  ["with a digest", true],
  ["without one", false],
])("F26: a file %s whose worker died halfway is whole after the next one", async (_how, withDigest) => {
  const whole = "0123456789".repeat(10);
  const digest = { digest_type: "sha256", digest_value: createHash("sha256").update(whole).digest("hex") };
  const url = fleet.server.on("/a.txt", ranged(whole, '"v1"', 30));
  const id = await fleet.submit({ payload_url: url, ...(withDigest ? digest : {}) });
  const doomed = await start();
  await waitFor(async () => Object.values(await fleet.files(id).catch(() => ({}))).some((text) => text.length === 30), {
    what: "30 bytes on disk",
  });
  await doomed.kill("SIGKILL");
  fleet.server.on("/a.txt", content(whole));
  await start();
  expect(await fleet.end(id)).toEqual(["Processing", ""]);
  expect(await fleet.files(id)).toEqual({ "producer/a.txt": whole });
  const view = await fleet.view(id);
  const { history, spaceNeeded } = view;
  const claims = await readdir(join(fleet.root, jobFolder(placeOfJob(view))));
  expect(claims).toEqual([`.claim-${history?.files_epoch}-${history?.files}`]);
  expect(spaceNeeded).toBe(100);
  expect(fleet.violations()).toEqual([]);
});
