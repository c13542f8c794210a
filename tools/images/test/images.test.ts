/** The images themselves, where an engine is there that has them (`npm run images`); nothing is built here. */
import { describe, expect, test } from "@jest/globals";
import { findDockerEngine, skipUnless } from "@sluice/local-parts";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { defaultBuildBase } from "../src/build/bases.ts";
import { SIZE_LIMIT_BYTES, versionOf } from "../src/build/build-all.ts";
import { allImages } from "../src/build/catalogue.ts";
import { dockerAt } from "../src/docker.ts";
import { runSmoke } from "../src/smoke/run.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const IMAGES = (await allImages(ROOT)).map(({ name }) => name);
const version = await versionOf(ROOT);
const tagOf = (name: string): string => `sluice/${name}:${version}`;

async function engineWithImages() {
  const engine = await findDockerEngine();
  if ("skip" in engine) return engine;
  const docker = dockerAt(engine.host);
  const isThere = await docker.can("image", "inspect", ...IMAGES.map(tagOf));
  return isThere ? docker : { skip: "the Docker engine has no images of this version: npm run images" };
}
const docker = await engineWithImages();
const SMOKE_LIMIT_MS = 1_800_000;

skipUnless(describe, docker, { optional: true })("on a Docker engine", () => {
  const run = async (name: string, script: string): Promise<string> => {
    if ("skip" in docker) throw new Error(docker.skip);
    const hardened = ["--rm", "--network", "none", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL"];
    const node = ["--entrypoint", "/nodejs/bin/node", tagOf(name), "--input-type=module", "-e", script];
    return await docker.run("run", ...hardened, ...node);
  };

  test.each(IMAGES)("sluice/%s is small, runs as nobody, and has no shell", async (name) => {
    if ("skip" in docker) throw new Error(docker.skip);
    const format = '{{.Size}} {{.Config.User}} {{index .Config.Labels "org.opencontainers.image.version"}}';
    const [size, user, label] = (await docker.run("image", "inspect", "--format", format, tagOf(name))).split(" ");
    expect(Number(size)).toBeLessThan(SIZE_LIMIT_BYTES);
    expect([user, label]).toEqual(["65532:65532", version]);
    expect(
      await docker.can("run", "--rm", "--network", "none", "--entrypoint", "/bin/sh", tagOf(name), "-c", "true"),
    ).toBe(false);
  });

  test("the embedded inventory works in the recorder's image", async () => {
    const script = `
      import { openInventory, parseInventoryUrl } from "/app/node_modules/@sluice/inventory/dist/index.js";
      const inventory = await openInventory(parseInventoryUrl("sqlite:/tmp/inventory.db"));
      await inventory.close();
      console.log("opened as", process.getuid());`;
    expect(await run("recorder", script)).toBe("opened as 65532");
  });

  // Containers are started and killed for many minutes, and only where there is a Docker engine.
  // eslint-disable-next-line no-restricted-syntax
  test(
    "a fleet of containers completes its batches although containers die",
    async () => {
      if ("skip" in docker) throw new Error(docker.skip);
      await runSmoke({ root: ROOT, docker, build: false, say: () => undefined });
    },
    SMOKE_LIMIT_MS,
  );
});

describe("deploy/Dockerfile", () => {
  test("names whole versions: of its base, and of pnpm as everywhere", async () => {
    expect(await defaultBuildBase(ROOT)).toMatch(/^node:\d+\.\d+\.\d+-[a-z]+-slim(@sha256:[0-9a-f]{64})?$/);
    const pnpm = /pnpm@(\d+\.\d+\.\d+)/.exec(await readFile(`${ROOT}tools/run/install.mjs`, "utf8"))?.[1];
    const dockerfile = await readFile(`${ROOT}deploy/Dockerfile`, "utf8");
    expect(dockerfile).toContain(`ARG PNPM_VERSION=${pnpm}\n`);
    // The classic builder knows no mounts.
    expect(dockerfile).not.toMatch(/--mount|^# syntax/m);
  });
});
