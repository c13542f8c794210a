/** What the help says of an action is what the tables allow. */
import { expect, test } from "@jest/globals";
import { BATCH_ACTIONS, BATCH_TABLE, JOB_ACTIONS, JOB_TABLE } from "@sluice/queue-core";
import { BATCH_ACTION_COMMANDS } from "../src/commands/batch-actions.ts";
import { JOB_ACTION_COMMANDS } from "../src/commands/job-actions.ts";

const cases = [
  ...JOB_ACTIONS.map((action) => ({ words: `job ${action}`, action, table: JOB_TABLE, all: JOB_ACTION_COMMANDS })),
  ...BATCH_ACTIONS.map((action) => ({
    words: `batch ${action}`,
    action,
    table: BATCH_TABLE,
    all: BATCH_ACTION_COMMANDS,
  })),
];

test.each(cases)("$words names the states that allow it, and no other", ({ words, action, table, all }) => {
  const says = all.find((command) => command.words.join(" ") === words)?.says.split(". ")[0] ?? "";
  const named = Object.keys(table).filter((state) => new RegExp(`\\b${state}\\b`).test(says));
  const allowed = Object.entries(table).flatMap(([state, { operator }]) => (action in operator ? [state] : []));
  expect(named).toEqual(allowed);
});
