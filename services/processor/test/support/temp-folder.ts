import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "@jest/globals";

const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder of one test, removed after it. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-processor-"));
  made.push(folder);
  return folder;
}
