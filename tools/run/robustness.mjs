/**
 * `npm run robustness [-- NAME…] [--seed N]`: the campaigns of tests/robustness, whole. Each is run in small by `npm test`;
 * whole they take too long for that: a death at every step of every service, long outages, thousands of random faults.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install } from "./install.mjs";
import { jest } from "./jest.mjs";
import { build, ROOT, say, secondsSince } from "./steps.mjs";

const FOLDER = "tests/robustness";
const ENDING = ".test.ts";
const EXIT_USAGE = 64;

const campaigns = readdirSync(join(ROOT, FOLDER))
  .filter((file) => file.endsWith(ENDING))
  .map((file) => file.slice(0, -ENDING.length));

function refuse(reason) {
  say(`${reason}\nusage: npm run robustness [-- NAME…] [--seed N]\ncampaigns: ${campaigns.join(", ")}`);
  process.exit(EXIT_USAGE);
}

function readArguments() {
  try {
    return parseArgs({ options: { seed: { type: "string" } }, allowPositionals: true });
  } catch (error) {
    return refuse(error.message);
  }
}

const { values, positionals } = readArguments();
const unknown = positionals.filter((name) => !campaigns.includes(name));
if (unknown.length > 0) refuse(`There is no campaign ${unknown.join(", ")}.`);
if (values.seed !== undefined && !/^\d{1,15}$/u.test(values.seed)) refuse(`--seed ${values.seed} is not a number.`);

const begun = performance.now();
await install();
const built = await build();
if (built !== 0) process.exit(built);
const chosen = positionals.length > 0 ? positionals : campaigns;
const code = await jest(
  // One after the other: each brings load enough of its own.
  ["--runInBand", "--runTestsByPath", ...chosen.map((name) => `${FOLDER}/${name}${ENDING}`)],
  { ROBUSTNESS: "whole", ...(values.seed === undefined ? {} : { SLUICE_SEED: values.seed }) },
);
say(`npm run robustness (${chosen.join(", ")}) took ${secondsSince(begun)}`);
process.exit(code);
