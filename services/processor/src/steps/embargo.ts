import { describeProblem, parseEmbargo } from "@sluice/ingest-formats";
import { fail, type Outcome } from "@sluice/stage-runtime";
import type { ReservedFiles } from "./reserved-files.ts";

/** An embargo that nobody can read must not become open access: the job fails instead. */
export function judgeEmbargo(files: ReservedFiles): Outcome | null {
  const text = files.get("mrt-embargo.txt");
  const embargo = text === undefined ? null : parseEmbargo(text);
  if (embargo === null || embargo.ok) return null;
  return fail("METADATA_INVALID", `mrt-embargo.txt: ${embargo.problems.map(describeProblem).join("; ")}`);
}
