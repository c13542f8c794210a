import { describe, expect, test } from "@jest/globals";
import { skipUnless } from "@sluice/local-parts";
import { execFileSync, spawnSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMANDS } from "../src/commands/all.ts";
import { completionScript, SHELLS } from "../src/completion.ts";

const find = (shell: string) =>
  spawnSync(shell, ["--version"]).status === 0 ? {} : { skip: `there is no ${shell} here` };

describe.each(SHELLS)("the script for %s", (shell) => {
  const script = completionScript(shell, COMMANDS);

  test("knows every command and option, and no hidden one", () => {
    for (const { words, options, hidden } of COMMANDS) {
      if (hidden === true) continue;
      const names = [...words, ...(options ?? []).map(({ name }) => name)];
      expect(names.filter((name) => !script.includes(name))).toEqual([]);
    }
    expect(script.includes("completion __complete") || script.includes("-a __complete")).toBe(false);
  });

  skipUnless(test, find(shell), { optional: shell !== "bash" })("is one that the shell takes", () => {
    execFileSync(shell, ["-n"], { input: script });
  });
});

describe("in bash", () => {
  async function complete(line: string): Promise<readonly string[]> {
    const folder = await mkdtemp(join(tmpdir(), "sluice-bash-"));
    await writeFile(join(folder, "sluice"), '#!/bin/sh\nprintf "%s\\n" "$2-one" "$2-two"\n');
    await chmod(join(folder, "sluice"), 0o755);
    const words = line.split(" ");
    const probe = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const script = `${completionScript("bash", COMMANDS)}\n${probe}\n`;
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
    const out = execFileSync("bash", ["--norc"], { input: script, env }).toString();
    await rm(folder, { recursive: true });
    return out.split("\n").filter((each) => each !== "");
  }

  test("nouns, verbs, options, their values and ids are offered", async () => {
    expect(await complete("sluice ba")).toEqual(["batch"]);
    expect(await complete("sluice job re")).toEqual(["release", "resume"]);
    expect(await complete("sluice job list --state Fa")).toEqual(["Failed"]);
    expect(await complete("sluice job resume --dry")).toEqual(["--dry-run"]);
    expect(await complete("sluice -o json stage pause down")).toEqual(["downloader"]);
    expect(await complete("sluice job show job-t")).toEqual(["job-two"]);
    expect(await complete("sluice job list --profile profile-o")).toEqual(["profile-one"]);
  });
});
