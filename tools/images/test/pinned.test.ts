import { expect, test } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../src/root.ts";

const read = (path: string): Promise<string> => readFile(join(ROOT, path), "utf8");
const DIGEST = /@sha256:[0-9a-f]{64}$/;

/** Of others: ours are built here. */
async function publicImages(): Promise<readonly string[]> {
  const compose = [...(await read("docker-compose.yml")).matchAll(/image: \$\{\w+_IMAGE:-([^}]+)\}/g)];
  const base = /^ARG BUILD_BASE=(\S+)$/m.exec(await read("deploy/Dockerfile"));
  const kustomized = /newTag: (\S+)\n\s+digest: (\S+)/.exec(await read("k8s/components/zookeeper/kustomization.yaml"));
  return [...compose.map(([, image]) => image!), base![1]!, `zookeeper:${kustomized?.[1]}@${kustomized?.[2]}`];
}

test("images of others are pinned by digest, and the document lists those that are not, and no others", async () => {
  const images = await publicImages();
  expect(images.length).toBeGreaterThanOrEqual(6);
  const rows = (await read("docs/containers.md")).matchAll(/^\| `([^`\u2026]+)` .*\| (digest|tag only) +\|$/gm);
  const listed = new Map([...rows].map(([, image, how]) => [image, how]));
  const found = new Map(images.map((image) => [image.replace(DIGEST, ""), DIGEST.test(image) ? "digest" : "tag only"]));
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(found));
  for (const image of images) expect(image).toMatch(/:[\w.-]+(?:@|$)/);
});

test("compose and Kubernetes run the same ZooKeeper", async () => {
  const all = (await publicImages()).filter((image) => image.startsWith("zookeeper:"));
  expect(new Set(all).size).toBe(1);
});
