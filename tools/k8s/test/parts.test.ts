/** Parts of the manifests that promise something of their own. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { skipUnless } from "@sluice/local-parts";
import { flowProblems } from "../src/checks/flows.ts";
import { settingsProblems } from "../src/checks/settings.ts";
import { environmentOf, type KubernetesObject, podOf, servicesOf, workloadsOf } from "../src/object.ts";
import { render } from "../src/render.ts";
import { schemaProblems } from "../src/schema.ts";
import { type Facts, gatherFacts, ROOT } from "./facts.ts";
import { kustomize, rendered } from "./overlays.ts";
import { z } from "zod";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-parts-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each(["dev", "production"])("ZooKeeper of the overlay %s", (overlay) => {
  skipUnless(test, kustomize)("ends when it is out of memory, and has as much of it as Kubernetes allows", () => {
    const objects = rendered(overlay);
    const zookeeper = workloadsOf(objects).find(({ metadata }) => metadata.name === "zookeeper")!;
    const [container] = podOf(zookeeper).containers;
    const { ZK_SERVER_HEAP, SERVER_JVMFLAGS } = environmentOf(objects, container!);
    expect(SERVER_JVMFLAGS?.split(" ")).toEqual([
      "-XX:+ExitOnOutOfMemoryError",
      "-Dzookeeper.snapSizeLimitInKb=131072",
    ]);
    const limit = /^(\d+)Gi$/.exec(container!.resources.limits["memory"] ?? "")?.[1];
    expect(Number(ZK_SERVER_HEAP)).toBeGreaterThanOrEqual(1024);
    expect(Number(limit) * 1024).toBeGreaterThanOrEqual(Number(ZK_SERVER_HEAP) * 1.5);
  });
});

describe("the console of the overlay production", () => {
  const Affinity = z.looseObject({
    spec: z.looseObject({
      sessionAffinity: z.string(),
      sessionAffinityConfig: z.object({ clientIP: z.object({ timeoutSeconds: z.number() }) }),
    }),
  });
  const Annotated = z.looseObject({ metadata: z.looseObject({ annotations: z.record(z.string(), z.string()) }) });

  skipUnless(test, kustomize)("has several pods, and brings a browser back to the one that knows its session", () => {
    const objects = rendered("production");
    const admin = (kind: string) => objects.find((each) => each.kind === kind && each.metadata.name === "admin");
    const deployment = workloadsOf(objects).find(({ metadata }) => metadata.name === "admin")!;
    expect(deployment.spec.replicas).toBeGreaterThan(1);
    const { spec } = Affinity.parse(admin("Service"));
    expect(spec.sessionAffinity).toBe("ClientIP");
    const [container] = podOf(deployment).containers;
    const { SESSION_MAX_MS = "43200000" } = environmentOf(objects, container!);
    expect(spec.sessionAffinityConfig.clientIP.timeoutSeconds * 1000).toBeGreaterThanOrEqual(Number(SESSION_MAX_MS));
    const { annotations } = Annotated.parse(admin("Ingress")).metadata;
    const nginx = (name: string): string | undefined => annotations[`nginx.ingress.kubernetes.io/${name}`];
    expect([nginx("affinity"), nginx("affinity-mode")]).toEqual(["cookie", "persistent"]);
    expect([nginx("session-cookie-secure"), nginx("session-cookie-samesite")]).toEqual(["true", "Strict"]);
  });
});

test("manifests and compose name the images of this version", async () => {
  const read = (path: string): Promise<string> => readFile(`${ROOT}${path}`, "utf8");
  const { version } = JSON.parse(await read("package.json")) as { readonly version: string };
  const kustomizations = ["base", "components/snapshots", "components/operator"];
  const named = [...kustomizations.map((folder) => `k8s/${folder}/kustomization.yaml`), "docker-compose.yml"];
  const texts = (await Promise.all(named.map(read))).join("\n");
  const tags = [...texts.matchAll(/sluice\/[a-z-]+, newTag: ([\w.-]+)|\$\{SLUICE_TAG:-([\w.-]+)\}/g)];
  expect(tags.length).toBeGreaterThan(20);
  expect(new Set(tags.map(([, inManifest, inCompose]) => inManifest ?? inCompose))).toEqual(new Set([version]));
});

test("the nightly snapshot runs the command with a file of the day, and the token's file", async () => {
  const sluice = join(folder, "main.mjs");
  await writeFile(sluice, "console.log(JSON.stringify(process.argv.slice(2)));");
  const nightly = `${ROOT}k8s/components/snapshots/nightly.mjs`;
  const env = { ...process.env, SLUICE_TOKEN_FILE: "/secrets/token" };
  const { stdout } = await promisify(execFile)(process.execPath, [nightly, sluice, "/snapshots"], { env });
  expect(JSON.parse(stdout)).toEqual([
    "snapshot",
    expect.stringMatching(/^\/snapshots\/tree-[0-3]\d\.snapshot\.gz$/),
    "--overwrite",
    "--token-file",
    "/secrets/token",
  ]);
});

skipUnless(describe, kustomize)("the component tracing, over production", () => {
  let facts: Facts;
  let objects: readonly KubernetesObject[];
  beforeAll(async () => {
    facts = await gatherFacts();
    const [resources, components] = ["overlays/production", "components/tracing"].map((part) => [
      relative(folder, `${ROOT}k8s/${part}`),
    ]);
    const kustomization = JSON.stringify({ resources, components, namespace: "sluice" });
    await writeFile(join(folder, "kustomization.yaml"), kustomization);
    if (!("skip" in kustomize)) objects = render(kustomize, folder);
  });
  afterAll(() => facts.remove());

  test("is valid, and names a collector that every service accepts", async () => {
    expect(await schemaProblems(objects)).toEqual([]);
    expect(settingsProblems(objects, facts)).toEqual([]);
    const endpoints = servicesOf(objects).map(
      (workload) => environmentOf(objects, podOf(workload).containers[0]!)["OTEL_EXPORTER_OTLP_ENDPOINT"],
    );
    expect(new Set(endpoints)).toEqual(new Set(["http://opentelemetry-collector.monitoring:4318"]));
  });

  test("lets every service reach it, and nobody else", () => {
    expect(flowProblems(objects, [])).toEqual([]);
    const policy = objects.find(({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name === "traces");
    expect(policy?.["spec"]).toMatchObject({
      podSelector: { matchExpressions: [{ values: ["stage", "console", "jobs"] }] },
      egress: [
        {
          to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
          ports: [{ port: 4318 }],
        },
      ],
    });
  });
});
