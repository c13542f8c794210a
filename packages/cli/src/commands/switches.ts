/** What can be held and let go: collections, the queue, stages, workers. */
import type { Permission } from "@sluice/access";
import type { Answer } from "@sluice/client";
import { STAGES } from "@sluice/queue-core";
import { ADMIN, type Done, type SwitchRequest } from "@sluice/wire";
import { type Argument, type Command, type Option, toAdmin } from "../command.ts";
import { type Context, refuse, stop } from "../context.ts";
import { EXIT, type ExitCode, worst } from "../exit-codes.ts";
import { parseMoment } from "../given.ts";
import { DRY_RUN, REASON, reasonFor, YES } from "../interact/confirm.ts";

const UNTIL: Option = {
  name: "until",
  value: "TIME",
  kind: "time",
  says: "lifted by itself then: a time, or a span like 2h",
};

interface Kind {
  readonly noun: string;
  readonly on: { readonly verb: string; readonly says: string };
  readonly off: { readonly verb: string; readonly says: string };
  readonly takes: readonly Argument[];
  readonly example: string;
  readonly permission: Permission;
  readonly send: (context: Context, name: string, body: SwitchRequest) => Promise<Answer<Done>>;
}

const KINDS: readonly Kind[] = [
  {
    noun: "collection",
    on: { verb: "hold", says: "Hold collections: their batches and jobs wait" },
    off: { verb: "release", says: "Release collections; what waits is released with batch release and job release" },
    takes: [{ name: "PROFILE", many: true, dynamic: "profile" }],
    example: "sluice_demo_content",
    permission: ADMIN.collectionAction.permission,
    send: ({ admin }, name, body) => admin.call(ADMIN.collectionAction, { params: { name }, body }),
  },
  {
    noun: "queue",
    on: { verb: "pause", says: "Pause the whole queue: what is in hand is finished, nothing new is taken" },
    off: { verb: "resume", says: "Let the whole queue go on" },
    takes: [],
    example: "",
    permission: ADMIN.queueAction.permission,
    send: ({ admin }, _name, body) => admin.call(ADMIN.queueAction, { body }),
  },
  {
    noun: "stage",
    on: { verb: "pause", says: "Pause stages" },
    off: { verb: "resume", says: "Let stages go on" },
    takes: [{ name: "STAGE", many: true, choices: STAGES }],
    example: "downloader",
    permission: ADMIN.stageAction.permission,
    send: ({ admin }, name, body) => {
      const stage = STAGES.find((each) => each === name) ?? STAGES[0];
      return admin.call(ADMIN.stageAction, { params: { stage }, body });
    },
  },
  {
    noun: "worker",
    on: { verb: "drain", says: "Drain workers: they finish what they have and take no more" },
    off: { verb: "undrain", says: "Let workers take work again" },
    takes: [{ name: "WORKER", many: true, dynamic: "worker" }],
    example: "WORKER",
    permission: ADMIN.workerAction.permission,
    send: ({ admin }, id, body) => admin.call(ADMIN.workerAction, { params: { id }, body }),
  },
];

export const SWITCH_COMMANDS: readonly Command[] = KINDS.flatMap((kind): readonly Command[] => {
  const words = (verb: string): string => [kind.noun, verb, kind.example].filter((word) => word !== "").join(" ");
  const shared = { takes: kind.takes, permission: kind.permission, talksTo: toAdmin } as const;
  return [
    {
      ...shared,
      words: [kind.noun, kind.on.verb],
      says: kind.on.says,
      options: [UNTIL, REASON, DRY_RUN, YES],
      examples: [`${words(kind.on.verb)} --until 2h --reason "maintenance"`],
      run: (context) => turn(context, kind, "hold"),
    },
    {
      ...shared,
      words: [kind.noun, kind.off.verb],
      says: kind.off.says,
      options: [REASON, DRY_RUN, YES],
      examples: [`${words(kind.off.verb)} --reason "maintenance is over"`],
      run: (context) => turn(context, kind, "release"),
    },
  ];
});

async function turn(context: Context, kind: Kind, action: "hold" | "release"): Promise<ExitCode> {
  const { given, printer, io, args } = context;
  const names = args.length === 0 ? [""] : [...new Set(args)];
  const verb = action === "hold" ? kind.on.verb : kind.off.verb;
  const until = given.text("until");
  const moment = until === undefined ? undefined : (parseMoment(until, io.nowMs()) ?? undefined);
  if (given.has("dry-run")) {
    for (const name of names) {
      const what = `would ${verb} ${kind.noun}${name === "" ? "" : ` ${name}`}${moment === undefined ? "" : ` until ${moment}`}`;
      printer.done({ action, name, until: moment ?? null }, name, what);
    }
    return EXIT.ok;
  }
  const reason = await reasonFor(context);
  if (!reason.ok) return reason.code;
  const body: SwitchRequest = { action, reason: reason.value, ...(moment === undefined ? {} : { until: moment }) };
  const codes: ExitCode[] = [];
  for (const name of names) {
    const answer = await kind.send(context, name, body);
    if (answer.ok) printer.done(answer.value, name === "" ? kind.noun : name, answer.value.message);
    codes.push(answer.ok ? EXIT.ok : refuse(context, answer));
    if (io.interrupted.aborted) return stop(context, EXIT.interrupted, `stopped after ${name}`);
  }
  return worst(codes);
}
