import type { Fault, SessionState } from "./port.ts";

export type OperationName =
  "get" | "exists" | "children" | "readMany" | "multi" | "getAcl" | "setAcl" | "barrier" | "close";

/** Where metrics and logs are attached. Nothing here may throw. */
export interface SessionHooks {
  readonly onOperation?: (operation: OperationName, durationMs: number, code: "OK" | Fault["code"]) => void;
  readonly onState?: (state: SessionState, why: string) => void;
}
