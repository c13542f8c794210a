import { describe, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "../src/child.ts";
import { processInfo } from "../src/process-table.ts";

/** A parent that can be killed: a process of its own, and so on the built package. */
const PARENT = `
  const { startChild } = await import(process.argv[1]);
  const child = await startChild({ command: "sleep", args: ["600"], cwd: "/", logFile: "/dev/null" });
  process.stdout.write(String(child.pid));
  setInterval(() => undefined, 1000);
`;

describe("a child process", () => {
  test("is ended when its parent was killed and could not do it", async () => {
    const built = new URL("../dist/child.js", import.meta.url).href;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", PARENT, built], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [said] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(said.toString());
    expect(await processInfo(pid)).toMatchObject({ parent: parent.pid });

    parent.kill("SIGKILL");
    await once(parent, "exit");

    while ((await processInfo(pid)) !== null) await new Promise(setImmediate);
    expect(await processInfo(pid)).toBeNull();
  });

  test("that cannot be started is reported", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "sluice-child-"));
    const start = startChild({ command: "/nonexistent/java", args: [], cwd, logFile: join(cwd, "log") });

    await expect(start).rejects.toThrow("ENOENT");
    await rm(cwd, { recursive: true });
  });
});
