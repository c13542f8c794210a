/** One command line, from words to exit code. */
import { makeClient } from "@sluice/client";
import { type Command, nameOf, type Needs, OUTPUTS } from "./command.ts";
import { COMMANDS } from "./commands/all.ts";
import { type Context, stop } from "./context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { Given } from "./given.ts";
import { helpFor } from "./help.ts";
import type { Io } from "./io.ts";
import { makePrinter, type Printer } from "./output/printer.ts";
import { parseLine } from "./parse.ts";
import { findPlace, type Place } from "./settings/place.ts";

const NOWHERE: Place = { intake: null, admin: null, jobs: null, token: null, source: "nowhere", notes: [] };
/** fsck looks at the whole tree: it may take as long as that takes. */
const CALL_TIMEOUT_MS = 600_000;

export async function run(argv: readonly string[], io: Io, version: string): Promise<ExitCode> {
  const line = parseLine(argv, COMMANDS);
  switch (line.kind) {
    case "version":
      io.stdout.write(`${version}\n`);
      return EXIT.ok;
    case "help":
      io.stdout.write(`${helpFor(line.about, COMMANDS).join("\n")}\n`);
      return EXIT.ok;
    case "wrong":
      io.stderr.write(`sluice: ${line.why}\n  Next: sluice ${[...line.about, "--help"].join(" ")}\n`);
      return EXIT.usage;
    case "run":
      return await runCommand(line.command, line.args, line.given, io);
  }
}

async function runCommand(command: Command, args: readonly string[], given: Given, io: Io): Promise<ExitCode> {
  const name = nameOf(command);
  const needs = command.talksTo(given);
  const place = await placeFor(needs, command, given, io);
  if (typeof place === "number") return place;
  const printer = printerFor(given, io);
  if (command.hidden !== true) place.notes.forEach((note) => printer.note(note));
  const token = place.token === null ? {} : { token: place.token };
  const client = (baseUrl: string | null) =>
    makeClient({ baseUrl: baseUrl ?? "", timeoutMs: CALL_TIMEOUT_MS, ...token });
  const context: Context = {
    io,
    command: name,
    args,
    given,
    printer,
    admin: client(place.admin),
    intake: client(place.intake),
    jobs: client(place.jobs),
    where: place,
  };
  try {
    return await command.run(context);
  } catch (error) {
    // A mistake of ours, or an answer of another version: said in one line.
    const why = `it came to an unexpected end: ${error instanceof Error ? error.message : String(error)}`;
    return stop(context, EXIT.error, why, "is the service of the same version (sluice --version, its /docs)?");
  }
}

function printerFor(given: Given, io: Io): Printer {
  const form = OUTPUTS.find((each) => each === given.text("output")) ?? "table";
  const times = given.text("times") ?? (io.stdout.isTerminal ? "relative" : "iso");
  return makePrinter(io, { form, times: times === "iso" ? "iso" : "relative", noColor: given.has("no-color") });
}

const SETTING = {
  admin: { is: "the admin service", setting: "SLUICE_ADMIN_URL" },
  intake: { is: "the intake", setting: "SLUICE_INTAKE_URL" },
  jobs: { is: "the job queue", setting: "SLUICE_JOBS_URL" },
} as const;

async function placeFor(needs: Needs, command: Command, given: Given, io: Io): Promise<Place | ExitCode> {
  if (needs === "nothing") return NOWHERE;
  const at = { io, command: nameOf(command) };
  const stricter = (command.options ?? []).find(({ name, permission }) => permission !== undefined && given.has(name));
  const placed = await findPlace(io, given, stricter?.permission ?? command.permission);
  // A shell that completes is told nothing.
  if (!placed.ok) return command.hidden === true ? EXIT.ok : stop(at, EXIT.usage, placed.why);
  const { place } = placed;
  if (place[needs] !== null) return place;
  const { is, setting } = SETTING[needs];
  return stop(
    at,
    EXIT.usage,
    `${place.source} does not say where ${is} is`,
    `set ${setting}, or add --${needs}-url URL`,
  );
}
