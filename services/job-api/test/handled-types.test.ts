import { expect, test } from "@jest/globals";
import type { Handlers } from "@sluice/job-handlers";
import { waitFor } from "@sluice/testkit";
import { HandledTypes } from "../src/handled-types.ts";

test("a new handler is heard of at once, by those too who wait for jobs of its type", async () => {
  let types: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  let fire: () => void = () => undefined;
  const handlers = {
    types: () => Promise.resolve(types),
    watch: (onChange: () => void) => {
      fire = onChange;
      return () => undefined;
    },
  } as unknown as Handlers;
  const heard: boolean[] = [];
  const never = () => () => undefined;
  const handled = new HandledTypes(
    () => Promise.resolve(handlers),
    never,
    () => heard.push(handled.has("acme", "mail")),
  );
  await waitFor(() => heard.length === 1);
  types = new Map([["acme", new Set(["mail"])]]);
  fire();
  await waitFor(() => heard.length === 2);
  expect(heard).toEqual([false, true]);
  handled.stop();
});
