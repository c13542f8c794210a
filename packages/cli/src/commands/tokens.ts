/** Tokens of people and programs. */
import { ROLES } from "@sluice/access";
import { STAGES } from "@sluice/queue-core";
import { ADMIN, type TokenView } from "@sluice/wire";
import { type Command, toAdmin } from "../command.ts";
import { type Context, refuse, stop } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { type Asked, confirmed, DRY_RUN, REASON, reasonFor, YES } from "../interact/confirm.ts";

const tokens = { permission: ADMIN.tokens.permission, talksTo: toAdmin } as const;

export const TOKEN_COMMANDS: readonly Command[] = [
  {
    ...tokens,
    words: ["token", "list"],
    says: "The tokens; their secrets are not kept",
    examples: ["token list"],
    async run(context) {
      const answer = await context.admin.call(ADMIN.tokens, {});
      if (!answer.ok) return refuse(context, answer);
      context.printer.list<TokenView>({
        raw: answer.value,
        items: answer.value.items,
        columns: [
          { title: "TOKEN", of: ({ id }) => id },
          { title: "NAME", of: ({ name }) => name, flexible: true },
          { title: "ROLE", of: ({ role }) => role },
          { title: "COLLECTIONS", of: ({ collections }) => collections.join(","), flexible: true },
          { title: "STAGES", of: ({ stages = [] }) => stages.join(","), wide: true },
          { title: "EXPIRES", of: ({ expires }) => expires },
          { title: "", of: ({ expired }) => (expired ? "expired" : ""), state: true },
          { title: "MADE BY", of: ({ created_by: by }) => by, wide: true },
          { title: "MADE", of: ({ created }) => created, wide: true },
        ],
        nameOf: ({ id }) => id,
        none: "No tokens.",
      });
      return EXIT.ok;
    },
  },
  {
    ...tokens,
    words: ["token", "create"],
    says: "Make a token; stdout has it, this once",
    takes: [{ name: "NAME" }],
    options: [
      { name: "role", value: "ROLE", choices: ROLES, says: "what it may do" },
      {
        name: "collection",
        value: "PROFILE",
        many: true,
        dynamic: "profile",
        says: "for this collection, * for all of them; may be repeated; not needed with --tenant or --stage",
      },
      {
        name: "tenant",
        value: "TENANT",
        many: true,
        says: "for this tenant of the job queue, * for all; may be repeated",
      },
      {
        name: "stage",
        value: "STAGE",
        many: true,
        choices: STAGES,
        says: "for a worker of this stage, through the stage API; may be repeated",
      },
      { name: "days", value: "N", kind: "number", says: "until it expires; 90 if not given" },
      REASON,
      DRY_RUN,
    ],
    examples: [
      'token create ada --role depositor --collection sluice_demo_content --reason "new depositor"',
      'token create inventory-team --stage recorder --reason "their own recorder"',
    ],
    async run(context) {
      const { given, printer, args } = context;
      const named = given.text("role") ?? (given.texts("stage").length > 0 ? "worker" : undefined);
      const role = ROLES.find((each) => each === named);
      if (role === undefined) return stop(context, EXIT.usage, "which role?", `add --role ${ROLES.join("|")}`);
      const [name = ""] = args;
      const collections = await collectionsFor(context);
      if (!collections.ok) return collections.code;
      const bounds = {
        collections: collections.value,
        ...(given.texts("tenant").length === 0 ? {} : { tenants: [...given.texts("tenant")] }),
        ...(given.texts("stage").length === 0
          ? {}
          : { stages: STAGES.filter((each) => given.texts("stage").includes(each)) }),
      };
      const days = given.number("days") ?? 90;
      if (given.has("dry-run")) {
        const raw = { name, role, ...bounds, expires_in_days: days };
        printer.done(raw, name, `would make a token for ${name}: ${scopeText(role, bounds)}, for ${days} days`);
        return EXIT.ok;
      }
      const reason = await reasonFor(context);
      if (!reason.ok) return reason.code;
      const body = {
        name,
        role,
        ...bounds,
        expires_in_days: days,
        reason: reason.value,
      };
      const answer = await context.admin.call(ADMIN.makeToken, { body });
      if (!answer.ok) return refuse(context, answer);
      printer.done(answer.value, answer.value.id, answer.value.token);
      printer.note(
        `Token ${answer.value.id} for ${name}: ${scopeText(role, bounds)}, until ${answer.value.expires}. It is shown this once and kept nowhere.`,
      );
      return EXIT.ok;
    },
  },
  {
    ...tokens,
    words: ["token", "revoke"],
    says: "Revoke a token: it is refused from now on",
    takes: [{ name: "TOKEN", dynamic: "token" }],
    options: [REASON, DRY_RUN, YES],
    examples: ['token revoke TOKEN --reason "left the project" --yes'],
    async run(context) {
      const [id = ""] = context.args;
      if (context.given.has("dry-run")) {
        context.printer.done({ id }, id, `would revoke ${id}`);
        return EXIT.ok;
      }
      const reason = await reasonFor(context);
      if (!reason.ok) return reason.code;
      const sure = await confirmed(context, `Revoke ${id}?`);
      if (!sure.ok) return sure.code;
      const answer = await context.admin.call(ADMIN.revokeToken, { params: { id }, query: { reason: reason.value } });
      if (!answer.ok) return refuse(context, answer);
      context.printer.done(answer.value, id, answer.value.message);
      return EXIT.ok;
    },
  },
];

/** A token for everything must be asked for: it is not what somebody gets who forgot to say. */
async function collectionsFor(context: Context): Promise<Asked<string[]>> {
  const { given, io } = context;
  const named = [...given.texts("collection")];
  if (named.length + given.texts("tenant").length + given.texts("stage").length > 0) return { ok: true, value: named };
  const typed = io.ask === null ? "" : await io.ask("Collections, separated by commas (* for all of them): ");
  const value = typed.split(/[\s,]+/).filter((each) => each !== "");
  if (value.length > 0) return { ok: true, value };
  const advice = "add --collection PROFILE, as often as needed, or --collection '*' for all of them";
  return { ok: false, code: stop(context, EXIT.usage, "which collections?", advice) };
}

interface Bounds {
  readonly collections: readonly string[];
  readonly tenants?: readonly string[];
  readonly stages?: readonly string[];
}

function scopeText(role: string, { collections, tenants = [], stages = [] }: Bounds): string {
  const of = collections.includes("*") ? "all collections" : collections.join(", ");
  const tenant = tenants.length === 0 ? "" : `tenant ${tenants.join(", ")}`;
  const stage = stages.length === 0 ? "" : `stage ${stages.join(", ")}`;
  return `${role} of ${[of, tenant, stage].filter((each) => each !== "").join(" and ")}`;
}
