/** Documents are held to the code they describe: what is not generated is at least compared. */
import { describe, expect, test } from "@jest/globals";
import { ERROR_CODES } from "@sluice/queue-core";
import { baseConfig } from "@sluice/stage-runtime";
import { describeErrors } from "../src/errors-page.ts";
import { rowsOfCatalogue } from "../src/service-metrics.ts";
import { firstCells, foldersIn, matches, read, ROOT, sources } from "./support.ts";

const SERVICES = await foldersIn("services");

describe("docs/errors.md", () => {
  test("has a heading for every error code, and no heading without a code", async () => {
    const headings = matches(await read("docs/errors.md"), /^### (.+)$/gm);
    expect([...headings].sort()).toEqual(Object.keys(ERROR_CODES).sort());
  });

  test("is what the table of codes says", async () => {
    expect(await read("docs/errors.md")).toBe(describeErrors());
  });

  test("describes no code that nobody can meet", async () => {
    const texts = [...(await sources())].filter(([path]) => path !== "packages/queue-core/src/errors.ts");
    const unmet = Object.keys(ERROR_CODES).filter((code) => !texts.some(([, text]) => text.includes(`"${code}"`)));
    expect(unmet).toEqual([]);
  });
});

describe("docs/metrics.md", () => {
  test("has every metric that the code defines, once, and no other", async () => {
    const defined = [...(await sources()).values()].flatMap((text) => matches(text, /name: "(sluice_[a-z_]+)"/g));
    const named = defined.filter((name) => !name.endsWith("_content")); // a profile
    const documented = matches(await read("docs/metrics.md"), /^\| `([a-z_]+)` \|/gm);
    expect(documented.length).toBeGreaterThan(20);
    expect([...documented].sort()).toEqual([...named].sort());
  });

  test("takes rows for metrics, and nothing else that a module exports", () => {
    const row = { name: "sluice_x_total", help: "x", labels: ["stage"], type: "counter" };
    expect(rowsOfCatalogue({ x: row, y: { name: "no metric" } })).toEqual([row]);
    expect(rowsOfCatalogue([{ name: "sluice_y", help: "y", labels: [] }])).toMatchObject([{ type: "gauge" }]);
    expect([rowsOfCatalogue(() => row), rowsOfCatalogue(null), rowsOfCatalogue("x")].flat()).toEqual([]);
  });
});

interface Schema {
  readonly shape: Readonly<Record<string, unknown>>;
}
const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && "shape" in value && typeof value.shape === "object";

/** The settings of a service, from its own schema. */
async function settingsOf(service: string): Promise<readonly string[]> {
  const module = (await import(`${ROOT}services/${service}/src/config.ts`)) as Readonly<Record<string, unknown>>;
  const schemas = Object.values(module).filter(isSchema);
  expect(schemas).toHaveLength(1);
  return Object.keys(schemas[0]!.shape);
}

const settingsIn = (markdown: string): readonly string[] =>
  firstCells(markdown, ["variable", "knob", "name"]).flatMap((cell) =>
    matches(cell, /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b/g),
  );

describe("the table of settings in the README", () => {
  const common = Object.keys(baseConfig.shape);

  test.each(SERVICES)("of %s names every setting of its own, and none that it has not", async (service) => {
    const settings = await settingsOf(service);
    const named = settingsIn(await read(`services/${service}/README.md`));
    expect(settings.filter((name) => !common.includes(name) && !named.includes(name))).toEqual([]);
    expect(named.filter((name) => !settings.includes(name))).toEqual([]);
    expect(new Set(named).size).toBe(named.length);
  });

  test("of stage-runtime names settings that every service has", async () => {
    const named = settingsIn(await read("packages/stage-runtime/README.md"));
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !common.includes(name))).toEqual([]);
  });
});

describe("the README of stage-runtime", () => {
  test("describes every field of a job, in order, and no other", async () => {
    const [, fields = ""] =
      /^export interface Job \{\n([^}]+)^\}/m.exec(await read("packages/queue-core/src/job.ts")) ?? [];
    const described = firstCells(await read("packages/stage-runtime/README.md"), ["field"]);
    expect(described).toEqual(matches(fields, /^ {2}readonly (\w+)\??:/gm).map((name) => `\`${name}\``));
  });
});

describe("the example of a custom recorder", () => {
  test("takes none of the ports of a fleet", async () => {
    const ports = matches(await read("tools/fleet/src/services.ts"), /metricsPort: (\d+)/g).map(Number);
    const [port] = matches(await read("examples/own-recorder/README.md"), /METRICS_PORT=(\d+)/g).map(Number);
    expect(port).toBeGreaterThan(Math.max(...ports));
  });
});
