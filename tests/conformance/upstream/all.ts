import type { Cases } from "../case.ts";
import { CHANGE } from "./change.ts";
import { ENDS } from "./end.ts";
import { MAKE } from "./make.ts";
import { TAKE } from "./take.ts";

export const UPSTREAM: Cases = { ...MAKE, ...TAKE, ...ENDS, ...CHANGE };

/** A case that costs a process: beside the others that do. */
export const UPSTREAM_ELSEWHERE: Readonly<Record<string, string>> = {
  "JobID::test": "tests/conformance/conformance.test.ts",
};
