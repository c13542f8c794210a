import { expect, test } from "@jest/globals";
import { narrowedBy } from "../src/http/narrow-take.ts";

const ASKED = { worker: "w", handled: true, besides: ["fleet/*", "container"] } as never;

test.each([
  ["system", "fleet/clean-up", true],
  ["acme", "fleet/clean-up", false],
  ["acme", "fleet/", false],
  ["acme", "container", true],
  ["acme", "with-handler", true],
  ["acme", "other", false],
])("of tenant %s, a job of type %s is given to a runner of the fleet: %s", (tenant, type, expected) => {
  const { accepts } = narrowedBy(ASKED, { isHandled: (_, name) => name === "with-handler" });
  expect(accepts?.(tenant, type)).toBe(expected);
});
