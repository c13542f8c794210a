/** Every overlay as it would be applied, against the schemas of Kubernetes and against our own code. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { skipUnless } from "@sluice/local-parts";
import { STAGES } from "@sluice/queue-core";
import { type Coverage, coverageProblems } from "../src/checks/coverage.ts";
import { flowProblems, mayGoOut } from "../src/checks/flows.ts";
import { hardeningProblems } from "../src/checks/hardened.ts";
import { imageProblems } from "../src/checks/images.ts";
import { metricProblems } from "../src/checks/metrics.ts";
import { probeProblems } from "../src/checks/probes.ts";
import { referenceProblems } from "../src/checks/references.ts";
import { configOf, settingsProblems } from "../src/checks/settings.ts";
import { dataOf, podOf, servicesOf } from "../src/object.ts";
import { printPrometheusRule } from "../src/prometheus-rule.ts";
import { schemaProblems } from "../src/schema.ts";
import { type Facts, gatherFacts, metricsOfDocument, namesByHand, ROOT, SERVICES } from "./facts.ts";
import { type CheckName, FAULTS, plant } from "./faults.ts";
import { neededFlows } from "./needed-flows.ts";
import { kustomize, rendered } from "./overlays.ts";

const OVERLAYS = [
  { overlay: "dev", scaler: null },
  { overlay: "production", scaler: "ScaledObject" },
  { overlay: "production-hpa", scaler: "HorizontalPodAutoscaler" },
] as const satisfies readonly { readonly overlay: string; readonly scaler: Coverage["scaler"] }[];

let facts: Facts;
beforeAll(async () => {
  facts = await gatherFacts();
});
afterAll(() => facts.remove());

const needs = skipUnless(describe, kustomize);

needs.each(OVERLAYS)("the overlay $overlay", ({ overlay, scaler }) => {
  const objects = rendered(overlay);

  test("is valid for the schemas, without unknown fields", async () => {
    expect(await schemaProblems(objects)).toEqual([]);
  });

  test("hardens every container", () => {
    expect(hardeningProblems(objects)).toEqual([]);
  });

  test("pins every image", () => {
    expect(imageProblems(objects)).toEqual([]);
  });

  test("has all that each service and stage of the code needs", () => {
    expect(coverageProblems(objects, { services: SERVICES, scaled: [...STAGES, "job-runner"], scaler })).toEqual([]);
  });

  test("gives every service settings that it knows and accepts, from places that are mounted", () => {
    expect(settingsProblems(objects, facts)).toEqual([]);
  });

  test("probes paths that are served, and waits for the end of the grace period", () => {
    expect(probeProblems(objects, facts)).toEqual([]);
  });

  test("names nothing that is not there", () => {
    expect(referenceProblems(objects, namesByHand(facts))).toEqual([]);
  });

  test("asks Prometheus for metrics that are exported", async () => {
    expect(metricProblems(objects, { metrics: await metricsOfDocument(), stages: STAGES })).toEqual([]);
  });
});

test("the rules of the operator are those that promtool tests; `npm run docs` writes them", async () => {
  const folder = new URL("../../../deploy/prometheus/rules/", import.meta.url);
  expect(await readFile(`${ROOT}k8s/components/monitoring/rules.yaml`, "utf8")).toBe(await printPrometheusRule(folder));
});

needs("production", () => {
  const objects = rendered("production");

  test("lets flow what must, and nothing else", () => {
    const needed = neededFlows(objects, facts);
    expect(needed.length).toBeGreaterThan(SERVICES.length * 3);
    expect(flowProblems(objects, needed)).toEqual([]);
  });

  test("lets only those out that have an egress policy of their own, on the ports that it allows", () => {
    const out = mayGoOut(objects);
    expect([...out].sort()).toEqual(["batch-intake", "downloader", "estimator", "job-runner", "notifier", "processor"]);
    const flows = out.flatMap((from) => {
      const workload = servicesOf(objects).find(({ metadata }) => metadata.name === from)!;
      const read = configOf(objects, workload, podOf(workload).containers[0]!, facts);
      const allowed = read.ok ? (read.config["EGRESS_PORTS"] as readonly number[]) : [];
      expect(allowed.length).toBeGreaterThan(0);
      return allowed.map((port) => ({ from, to: { outside: "internet" }, port }) as const);
    });
    expect(flowProblems(objects, flows)).toEqual([]);
  });

  test("uses every object that is made by hand", () => {
    const text = JSON.stringify(objects);
    expect(facts.byHand.length).toBeGreaterThan(5);
    expect(facts.byHand.filter(({ name }) => !text.includes(`"${name}"`))).toEqual([]);
  });

  test("talks to ZooKeeper over TLS only", () => {
    const settings = servicesOf(objects).map((workload) => {
      const read = configOf(objects, workload, podOf(workload).containers[0]!, facts);
      return read.ok ? read.config["ZOOKEEPER_TLS"] : read.problems;
    });
    expect(new Set(settings)).toEqual(new Set(["on"]));
    const config = objects.find(({ metadata }) => metadata.name.startsWith("zookeeper-config"))!;
    expect(dataOf(objects, config.metadata.name)?.["tls.cfg"]).toContain("clientPortAddress=127.0.0.1");
  });
});

needs("a fault in production", () => {
  const production = rendered("production");

  test.each(FAULTS)("is found (%s): in %s %s, %s → %s", async (...fault) => {
    const { objects, changed } = plant(production, fault);
    const [check, , , , , found] = fault;
    const problems: Readonly<Record<CheckName, () => readonly string[] | Promise<readonly string[]>>> = {
      schema: () => schemaProblems(changed),
      hardened: () => hardeningProblems(objects),
      images: () => imageProblems(objects),
      coverage: () => coverageProblems(objects, { services: SERVICES, scaled: STAGES, scaler: "ScaledObject" }),
      settings: () => settingsProblems(objects, facts),
      probes: () => probeProblems(objects, facts),
      references: () => referenceProblems(objects, namesByHand(facts)),
      metrics: async () => metricProblems(objects, { metrics: await metricsOfDocument(), stages: STAGES }),
      flows: () => flowProblems(objects, neededFlows(production, facts)),
    };
    expect(await problems[check]()).toContainEqual(expect.stringContaining(found));
  });
});
