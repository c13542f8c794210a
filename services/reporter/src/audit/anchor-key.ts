/** The key that signs anchors, from its file: read anew each time, so that a rotated key counts without a restart. */
import { readAnchorSigner } from "@sluice/queue-core";
import { readFile } from "node:fs/promises";
import type { AnchorKey } from "./shorten-audit.ts";

const NOT_SET = "AUDIT_KEY_FILE is not set: records of the audit are archived, and stay in the tree";

export const anchorKeyIn = (path: string | undefined) => async (): Promise<AnchorKey> => {
  if (path === undefined) return { ok: false, problem: NOT_SET };
  try {
    const read = readAnchorSigner(await readFile(path, "utf8"));
    return read.ok ? read : { ok: false, problem: `AUDIT_KEY_FILE: ${path} ${read.problem}` };
  } catch (error) {
    return { ok: false, problem: `AUDIT_KEY_FILE: ${error instanceof Error ? error.message : String(error)}` };
  }
};
