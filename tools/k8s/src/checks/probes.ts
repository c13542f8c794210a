/** Probes, ports and the time to stop in, against what the service really does. */
import { OPS_PATHS } from "@sluice/stage-runtime";
import { type Container, type KubernetesObject, podOf, servicesOf } from "../object.ts";
import { configOf, type SettingsFacts } from "./settings.ts";

/** After the grace period handlers get a moment to obey, jobs are handed back, and the session is closed. */
const MARGIN_SECONDS = 10;

const WANTED = {
  // Never /readyz: an outage of ZooKeeper would restart what starts during it.
  startupProbe: OPS_PATHS.livez,
  livenessProbe: OPS_PATHS.livez,
  readinessProbe: OPS_PATHS.readyz,
} as const;

export function probeProblems(objects: readonly KubernetesObject[], facts: SettingsFacts): readonly string[] {
  return servicesOf(objects).flatMap((workload) => {
    const { name } = workload.metadata;
    const pod = podOf(workload);
    const problems = pod.containers.flatMap((container) => {
      const read = configOf(objects, workload, container, facts);
      if (!read.ok) return ["its settings cannot be read"];
      return [
        ...Object.entries(WANTED).flatMap(([probe, path]) =>
          probeProblem(container, probe as keyof typeof WANTED, path),
        ),
        ...portProblems(container, read.config),
        ...graceProblems(container, pod.terminationGracePeriodSeconds, Number(read.config["SHUTDOWN_GRACE_MS"])),
      ];
    });
    return problems.map((problem) => `${name}: ${problem}`);
  });
}

function probeProblem(container: Container, probe: keyof typeof WANTED, path: string): readonly string[] {
  const get = container[probe]?.httpGet;
  if (get?.path !== path) return [`${probe} asks for ${get?.path ?? "nothing"} and not for ${path}`];
  return get.port === "metrics" ? [] : [`${probe} asks at ${get.port} and not at metrics`];
}

function portProblems(container: Container, config: Readonly<Record<string, unknown>>): readonly string[] {
  const served = { metrics: config["METRICS_PORT"], http: config["PORT"] };
  const hosts = { METRICS_HOST: config["METRICS_HOST"], HOST: config["HOST"] };
  const wrong = Object.entries(served).filter(
    ([name, port]) => container.ports.find((declared) => declared.name === name)?.containerPort !== port,
  );
  const hidden = Object.entries(hosts).filter(([, host]) => host === "127.0.0.1");
  return [
    ...wrong.map(([name, port]) => `port ${name} is not ${String(port)}, on which it listens`),
    ...hidden.map(([name]) => `${name} is not given: nobody could reach it`),
  ];
}

function graceProblems(container: Container, seconds: number, graceMs: number): readonly string[] {
  const { preStop } = container.lifecycle ?? {};
  const needed = (preStop?.sleep?.seconds ?? 0) + graceMs / 1000 + MARGIN_SECONDS;
  const serves = container.ports.some(({ name }) => name === "http");
  return [
    ...(seconds >= needed ? [] : [`is killed after ${seconds} s, and may need ${needed} s to stop`]),
    ...(serves && preStop === undefined ? ["stops to listen while load balancers still send to it"] : []),
  ];
}
