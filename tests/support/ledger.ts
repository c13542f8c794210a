/** A file that is only ever appended to: what a server outside the queue did. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Ledger } from "@sluice/testkit";

export interface FileLedger extends Ledger {
  lines(): readonly string[];
}

export const fileLedger = (file: string): FileLedger => ({
  push: (line) => appendFileSync(file, `${line}\n`),
  lines: () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []),
});
