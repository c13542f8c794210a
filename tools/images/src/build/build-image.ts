/** One image: built, measured, its SBOM taken out. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Docker } from "../docker.ts";
import type { ImageRow } from "./catalogue.ts";

export interface BuildPlan {
  readonly root: string;
  /** What stands before the name: sluice, or a registry's folder. */
  readonly prefix: string;
  readonly version: string;
  readonly commit: string;
  readonly base: string;
  readonly sbomDir: string;
}

export interface Built {
  readonly tag: string;
  readonly bytes: number;
  readonly seconds: number;
  readonly sbom: string;
}

export async function buildImage(docker: Docker, plan: BuildPlan, { name, target }: ImageRow): Promise<Built> {
  const begun = performance.now();
  const tag = `${plan.prefix}/${name}:${plan.version}`;
  const given = {
    BUILD_BASE: plan.base,
    SERVICE: name,
    VERSION: plan.version,
    COMMIT: plan.commit,
    ...fromEnvironment("RUNTIME_BASE"),
    ...fromEnvironment("NPM_CONFIG_REGISTRY"),
  };
  const args = Object.entries(given).flatMap(([key, value]) => ["--build-arg", `${key}=${value}`]);
  const dockerfile = join(plan.root, "deploy/Dockerfile");
  const how = ["--network", "host", "--file", dockerfile, "--target", target, ...args];
  await docker.run("build", ...how, "--tag", tag, plan.root);
  const sbom = await takeSbom(docker, tag, join(plan.sbomDir, `${name}.cdx.json`));
  const bytes = Number(await docker.run("image", "inspect", "--format", "{{.Size}}", tag));
  return { tag, bytes, seconds: (performance.now() - begun) / 1000, sbom };
}

const fromEnvironment = (name: string): Readonly<Record<string, string>> => {
  const value = process.env[name];
  return value === undefined ? {} : { [name]: value };
};

async function takeSbom(docker: Docker, tag: string, file: string): Promise<string> {
  await mkdir(join(file, ".."), { recursive: true });
  const container = await docker.run("create", tag);
  try {
    await docker.run("cp", `${container}:/app/sbom.cdx.json`, file);
  } finally {
    await docker.run("rm", "--volumes", container);
  }
  return file;
}
