import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";

/** From here on a span is known in everything that it waits for. Needed for logs too, so it is on without a recorder. */
export function carryContext(): void {
  // False where another part of this process has done so.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}
