import { beforeAll, describe, expect, test } from "@jest/globals";
import { realpathSync } from "node:fs";
import { runCommand, skipUnless } from "../src/index.ts";
import { whyNotApt } from "../src/debian/apt.ts";
import { installPart, missingCommands, missingFiles } from "../src/debian/install.ts";
import { PARTS, type Part, type PartName } from "../src/debian/parts.ts";

const refusal = whyNotApt();
const apt = refusal === null ? {} : { skip: refusal };
/** Too large to install for a test: looked at where they are. */
const NOT_IN_TESTS: readonly PartName[] = ["docker", "dockerCompose"];
const names = Object.keys(PARTS) as readonly PartName[];

const isHere = (name: PartName): boolean => missingCommands(name).length + missingFiles(name).length === 0;

async function output(command: string, args: readonly string[]): Promise<string> {
  const result = await runCommand(command, args, { env: { ...process.env, LC_ALL: "C" } });
  if (!result.ok) throw new Error(`${command} ${args.join(" ")}: ${result.output}`);
  return result.output;
}

/** /usr/bin/java is a link to a link; and what stands below /usr/bin may be known as /bin. */
async function ownerOf(path: string): Promise<string> {
  const real = realpathSync(path);
  const asked = await runCommand("dpkg-query", ["--search", real]);
  const known = asked.ok ? asked.output : await output("dpkg-query", ["--search", real.replace(/^\/usr/u, "")]);
  return known.split("\n").at(-1)!.split(":")[0]!;
}

/** What apt would install on a machine on which nothing is installed at all. */
async function broughtBy(packages: readonly string[]): Promise<ReadonlySet<string>> {
  const nothing = ["-o", "Dir::State::status=/dev/null"];
  const plan = await output("apt-get", ["--simulate", "install", "--no-install-recommends", ...nothing, ...packages]);
  return new Set([...plan.matchAll(/^Inst (?<name>\S+)/gmu)].map(({ groups }) => groups!["name"]!.split(":")[0]!));
}

async function unowned({ packages, commands, files }: Part): Promise<readonly string[]> {
  const brought = await broughtBy(packages);
  const used = [...commands, ...files];
  const owners = await Promise.all(used.map(ownerOf));
  return used.filter((_, at) => !brought.has(owners[at]!));
}

skipUnless(describe, apt)("the packages that we install for a part bring all that we use of it", () => {
  beforeAll(async () => {
    // A fresh image has no lists of packages, and a machine may have parts of which nothing is installed yet.
    if (!(await runCommand("apt-cache", ["show", "zookeeper"])).ok) await output("apt-get", ["update"]);
    for (const name of names.filter((each) => !NOT_IN_TESTS.includes(each) && !isHere(each))) await installPart(name);
  });

  test.each(names.filter((name) => !NOT_IN_TESTS.includes(name) || isHere(name)))("%s", async (name) => {
    expect(await unowned(PARTS[name])).toEqual([]);
  });

  test("a list that lacks the owner of one command is found", async () => {
    const { commands, files } = PARTS.mariadb;

    expect(await unowned({ packages: ["mariadb-server-core"], commands, files })).toContain(
      "/usr/bin/my_print_defaults",
    );
  });
});
