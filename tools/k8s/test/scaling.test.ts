/** The numbers of scaling stand in three places: KEDA's objects, plain autoscalers, the document. They are the same. */
import { readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { skipUnless } from "@sluice/local-parts";
import { STAGES } from "@sluice/queue-core";
import { scalingByHpa, scalingByKeda } from "../src/scaling.ts";
import { kustomize, rendered } from "./overlays.ts";

const byKeda = scalingByKeda(rendered("production"));
const given = skipUnless(test, kustomize);

given("plain autoscalers follow the same numbers, but never to zero", () => {
  const expected = byKeda.map((scaling) => ({ ...scaling, min: Math.max(1, scaling.min) }));
  expect(expected).toHaveLength([...STAGES, "job-runner"].length);
  expect(scalingByHpa(rendered("production-hpa"))).toEqual(expected);
});

given("docs/kubernetes.md says them too", async () => {
  const text = await readFile(new URL("../../../docs/kubernetes.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| ([a-z-]+) +\| (\d+)–(\d+) +\| (\d+) +\| ([\d–]+) +\|/gm)];
  const documented = rows.map(([, stage, min, max, ...perReplica]) => ({
    stage,
    min: Number(min),
    max: Number(max),
    perReplica: perReplica.filter((cell) => cell !== "–").map(Number),
  }));
  // The intake's third question keeps what there is, and is told in words.
  const expected = byKeda.map((scaling) => ({ ...scaling, perReplica: scaling.perReplica.slice(0, 2) }));
  const sorted = <T extends { readonly stage: string | undefined }>(all: readonly T[]): readonly T[] =>
    [...all].sort((a, b) => (a.stage ?? "").localeCompare(b.stage ?? ""));
  expect(sorted(documented)).toEqual(sorted(expected));
});
