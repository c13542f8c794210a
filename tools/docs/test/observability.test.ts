/** Alerts, dashboards, metrics and the runbook name each other: a name that nobody has is no error there, only silence. */
import { describe, expect, test } from "@jest/globals";
import { filesBelow, matches, read } from "./support.ts";

const textOf = async (folder: string, ending: string): Promise<string> =>
  (await Promise.all((await filesBelow(folder, ending)).map(read))).join("\n");

const RULES = await textOf("deploy/prometheus/rules", ".yml");
const DASHBOARDS = await textOf("deploy/grafana/dashboards", ".json");
const METRICS = new Set(matches(await read("docs/metrics.md"), /^\| `([a-z_]+)` \|/gm));
const RUNBOOK = await read("docs/runbook.md");

/** Where an installation keeps the documents, if its Prometheus says so. */
const DOCS_BASE = "{{ with $externalLabels.sluice_docs }}{{ . }}/{{ end }}";

/** A histogram is asked for by its parts. */
const metricOf = (name: string): string => (METRICS.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ""));
const named = new Set(matches(RULES.replaceAll(DOCS_BASE, "") + DASHBOARDS, /\bsluice_[a-z_]+\b/g).map(metricOf));
const alerts = matches(RULES, /^ +- alert: (\w+)$/gm);

describe("what alerts and dashboards ask for", () => {
  test("is exported", () => {
    expect(named.size).toBeGreaterThan(50);
    expect([...named].filter((name) => !METRICS.has(name))).toEqual([]);
  });

  test("is all that tells how work, ZooKeeper and the tree do", () => {
    const telling = [...METRICS].filter((name) =>
      /^sluice_(stage|queue|batches|zk|consistency|journal|lock|jobs?)(?:_|$)/.test(name),
    );
    expect(telling.length).toBeGreaterThan(40);
    expect(telling.filter((name) => !named.has(name))).toEqual([]);
  });

  test("is recorded if it has a colon, and what is recorded is asked for", () => {
    const recorded = new Set(matches(RULES, /record: (sluice:[\w:]+)/g));
    const asked = new Set(matches(RULES.replaceAll(/record: sluice:[\w:]+/g, "") + DASHBOARDS, /sluice:[\w:]+/g));
    expect([...asked].sort()).toEqual([...recorded].sort());
  });

  test("is asked on a dashboard for the installation that was chosen", () => {
    const expressions = matches(DASHBOARDS, /"expr": "((?:[^"\\]|\\.)*)"/g);
    expect(expressions.length).toBeGreaterThan(60);
    // Limits are the same for all.
    const metrics = expressions.flatMap((expr) =>
      matches(expr, /\b(sluice[_:][\w:]+(?:\{[^}]*\})?)/g).filter((name) => !name.includes("lock_limit")),
    );
    expect(metrics.filter((metric) => !metric.includes('{namespace=~\\"$namespace\\"'))).toEqual([]);
  });

  test("comes from a datasource that can be chosen", async () => {
    for (const path of await filesBelow("deploy/grafana/dashboards", ".json")) {
      const sources = matches(await read(path), /"uid": "([^"]*)"/g).filter((uid) => !uid.startsWith("sluice-"));
      expect(new Set(sources)).toEqual(new Set(["${DS_PROMETHEUS}"]));
    }
  });
});

describe("every alert", () => {
  test("has a section in the runbook, and every such section an alert", () => {
    expect(alerts.length).toBeGreaterThan(20);
    expect([...matches(RUNBOOK, /^### (Sluice\w+)$/gm)].sort()).toEqual([...alerts].sort());
  });

  test("has severity, summary, description and the address of its section", () => {
    const blocks = RULES.split(/^ +- alert: /m).slice(1);
    const wrong = blocks.filter((block) => {
      const name = /^\w+/.exec(block)?.[0] ?? "";
      const link = `runbook_url: "${DOCS_BASE}docs/runbook.md#${name.toLowerCase()}"\n`;
      const parts = [/severity: (critical|background) /, /\n +summary: "/, /\n +description: "/];
      return !block.includes(link) || parts.some((part) => !part.test(block));
    });
    expect(wrong).toEqual([]);
  });

  test("says in its section what it means, where to look, what to do, whom to wake", () => {
    const sections = RUNBOOK.split(/^#+ /m).filter((section) => /^Sluice\w+\n/.test(section));
    const lacking = sections.filter((section) =>
      ["**Means**", "**Look**", "**Do**", "**Wake**"].some((part) => !section.includes(part)),
    );
    expect(lacking).toEqual([]);
  });
});

describe("the commands in the runbook", () => {
  /** Name of the command, and the options it takes. */
  const commands = async (): Promise<ReadonlyMap<string, string>> => {
    const [head = "", ...sections] = (await read("docs/cli.md")).split(/^### /m);
    return new Map(sections.map((section) => [section.split("\n")[0] ?? "", head + section]));
  };

  test("are there, with the options that are given", async () => {
    const known = await commands();
    const typed = matches(RUNBOOK, /(?:`|^)(sluice [a-z][^`#\n]*)/gm);
    expect(typed.length).toBeGreaterThan(50);
    const wrong = typed.filter((line) => {
      const words = line.trim().split(/\s+/);
      const command = [words.slice(0, 3), words.slice(0, 2)]
        .map((each) => each.join(" "))
        .find((name) => known.has(name));
      if (command === undefined) return true;
      const options = matches(line, /(?<=\s)(--[a-z-]+)/g);
      return options.some((option) => !known.get(command)?.includes(option));
    });
    expect(wrong).toEqual([]);
  });
});
