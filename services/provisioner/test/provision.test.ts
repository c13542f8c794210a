import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { type Job, jobId } from "@sluice/queue-core";
import type { JobContext } from "@sluice/stage-runtime";
import { Registry } from "prom-client";
import { type DedicatedVolumes, sharedVolumeOnly, type VolumeAnswer } from "../src/dedicated-volumes.ts";
import { storageGauges } from "../src/gauges.ts";
import { type ProvisioningParts, provisioningStage } from "../src/provision.ts";
import { volumeSurvey } from "../src/volume.ts";

const jobWith = (resource?: string): Job =>
  ({ id: jobId(1), configuration: { resource_to_provision: resource } }) as unknown as Job;

const context = {
  signal: new AbortController().signal,
  failpoint: () => Promise.resolve(),
} as unknown as JobContext;

function stage(parts: Partial<ProvisioningParts> = {}) {
  return provisioningStage({
    survey: () => Promise.resolve({ totalBytes: 100, freeBytes: 100, uploadedBytes: 0 }),
    limits: { known: 0.8, unknown: 0.7 },
    dedicated: sharedVolumeOnly,
    onRound: () => undefined,
    ...parts,
  });
}

describe("an admitted job", () => {
  test("goes on at once", async () => {
    expect(await stage().handle(jobWith(), context)).toEqual({ kind: "done", changes: {} });
  });

  test("that asks for a volume of its own works on the shared one where nobody makes volumes", async () => {
    expect(await stage().handle(jobWith("zfs-large"), context)).toEqual({ kind: "done", changes: {} });
  });

  test("waits for its own volume, with the reason, until it stands", async () => {
    const answers: VolumeAnswer[] = [{ kind: "not-yet", askAgainMs: 60_000, why: "being attached" }, { kind: "ready" }];
    const asked: string[] = [];
    const dedicated: DedicatedVolumes = {
      provide: (resource, job) => {
        asked.push(`${resource} for ${job.id}`);
        return Promise.resolve(answers.shift() ?? { kind: "ready" });
      },
    };
    const waiting = stage({ dedicated });
    expect(await waiting.handle(jobWith("zfs-large"), context)).toEqual({
      kind: "snooze",
      delayMs: 60_000,
      why: "waits for zfs-large: being attached",
    });
    expect(await waiting.handle(jobWith("zfs-large"), context)).toEqual({ kind: "done", changes: {} });
    expect(asked).toEqual([`zfs-large for ${jobId(1)}`, `zfs-large for ${jobId(1)}`]);
  });
});

describe("a round of decisions", () => {
  test("uses the limits it was given", async () => {
    const promised = (bytes: number) => ({ bytes, failedBytes: 0, unknownJobs: 0 });
    const rounds: number[] = [];
    const { admit } = stage({ limits: { known: 0.5, unknown: 0.1 }, onRound: (reserved) => rounds.push(reserved) });
    const survey = await admit!.survey();
    const candidate = { id: jobId(1), priority: 1, spaceNeeded: 30, resource: undefined };
    expect(admit!.decide([candidate], promised(25), survey).get(jobId(1))?.admit).toBe(false);
    expect(admit!.decide([candidate], promised(20), survey).get(jobId(1))?.admit).toBe(true);
    expect(rounds).toEqual([25, 20]);
  });

  test("surveys the volume that the working folder is on", async () => {
    const folder = mkdtempSync(`${tmpdir()}/provisioner-`);
    try {
      const { totalBytes, freeBytes } = await volumeSurvey(folder)();
      expect(totalBytes).toBeGreaterThan(0);
      expect(freeBytes).toBeLessThanOrEqual(totalBytes);
    } finally {
      await rm(folder, { recursive: true });
    }
    await expect(volumeSurvey(`${folder}/gone`)()).rejects.toThrow();
  });
});

test("uploads are counted where they arrive and where they stay, until their batch is gone", async () => {
  const folder = mkdtempSync(`${tmpdir()}/provisioner-`);
  const put = async (name: string, bytes: number): Promise<void> => {
    await mkdir(dirname(`${folder}/${name}`), { recursive: true });
    await writeFile(`${folder}/${name}`, Buffer.alloc(bytes));
  };
  try {
    const survey = volumeSurvey(folder);
    expect((await survey()).uploadedBytes).toBe(0);
    await put(".incoming/a/received-0", 100);
    await put(".journaled/j/b/uploads/f", 20);
    await put("bid0000000001/uploads/x/y", 3);
    await put("bid0000000001/jid0000000001/.claim-1/producer/y", 7_000);
    await put("fleet.json", 9);
    expect((await survey()).uploadedBytes).toBe(123);
    await put("bid0000000002/uploads/z", 4);
    // Ten thousand batches wait for their clean-up: what is in a folder that was there before is not counted again.
    await put("bid0000000001/uploads/later", 50_000);
    expect((await survey()).uploadedBytes).toBe(127);
    await rm(`${folder}/bid0000000002`, { recursive: true });
    await rm(`${folder}/bid0000000001`, { recursive: true });
    expect((await survey()).uploadedBytes).toBe(120);
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe("the gauges of the volume", () => {
  const shown = async (registry: Registry): Promise<Readonly<Record<string, number>>> => {
    const metric = await registry.getSingleMetric("sluice_working_storage_bytes")!.get();
    return Object.fromEntries(metric.values.map(({ labels, value }) => [labels["kind"] ?? "", value]));
  };

  test("are of the moment of the scrape, whether anything was decided or not", async () => {
    const registry = new Registry();
    let freeBytes = 100;
    const onRound = storageGauges(registry, () => Promise.resolve({ totalBytes: 100, freeBytes, uploadedBytes: 0 }));
    expect(await shown(registry)).toEqual({ total: 100, free: 100 });
    freeBytes = 10;
    expect(await shown(registry)).toEqual({ total: 100, free: 10 });
    onRound(20);
    expect(await shown(registry)).toEqual({ total: 100, free: 10, reserved: 20 });
  });

  test("are not there while the volume cannot be looked at", async () => {
    const registry = new Registry();
    const onRound = storageGauges(registry, () => Promise.reject(new Error("gone")));
    onRound(20);
    expect(await shown(registry)).toEqual({ reserved: 20 });
  });
});
