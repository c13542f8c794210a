/** Audit, tokens, nodes, mails, and who one is. */
import { ROLES } from "@sluice/access";
import { ADMIN, type AuditView, type TokenView } from "@sluice/wire";
import { type Command, toAdmin } from "../command.ts";
import { refuse, stop } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { confirmed, DRY_RUN, REASON, reasonFor, YES } from "../interact/confirm.ts";
import { LIST_OPTIONS, readPages } from "../pages.ts";
import { safe, safeLines } from "../output/text.ts";
import { moreNote, showMails } from "./batches.ts";

const audit = { permission: ADMIN.audit.permission, talksTo: toAdmin } as const;
const tokens = { permission: ADMIN.tokens.permission, talksTo: toAdmin } as const;

export const HOUSE_COMMANDS: readonly Command[] = [
  {
    words: ["whoami"],
    says: "Who you are, and what you may do",
    examples: ["whoami"],
    permission: ADMIN.me.permission,
    talksTo: toAdmin,
    async run(context) {
      const answer = await context.admin.call(ADMIN.me, {});
      if (!answer.ok) return refuse(context, answer);
      const { value } = answer;
      context.printer.show(value, value.name, (printer) =>
        printer.fields([
          ["Name", value.name],
          ["Role", value.role],
          ["Collections", value.collections?.join(", ") ?? "all"],
          ["Tenants", value.tenants?.join(", ") ?? "all"],
          ["You may", value.permissions.join(", ")],
          ["At", `${context.where.admin ?? ""} (from ${context.where.source})`],
        ]),
      );
      return EXIT.ok;
    },
  },
  {
    ...audit,
    words: ["audit", "list"],
    says: "Every change by a person or a program, newest first",
    options: [
      { name: "actor", value: "NAME", says: "by this caller: a name, or an id such as token:4k2m…" },
      { name: "target", value: "ID", says: "of this job, batch, collection, …" },
      ...LIST_OPTIONS,
    ],
    examples: ["audit list --target jid0000000001", "audit list --limit 10 -o json"],
    async run(context) {
      const { given, admin } = context;
      const answer = await readPages<AuditView>(given, (page) =>
        admin.call(ADMIN.audit, { query: { ...page, actor: given.text("actor"), target: given.text("target") } }),
      );
      if (!answer.ok) return refuse(context, answer);
      context.printer.list({
        raw: answer.value,
        items: answer.value.items,
        columns: [
          { title: "NUMBER", of: ({ number }) => String(number), right: true },
          { title: "AT", of: ({ at }, { time }) => time(at) },
          { title: "ACTOR", of: ({ actor }) => actor },
          { title: "CALLER", of: ({ caller }) => caller ?? "-" },
          { title: "ACTION", of: ({ action }) => action },
          { title: "TARGET", of: ({ target }) => target },
          { title: "REASON", of: ({ reason }) => reason, flexible: true },
          { title: "HASH", of: ({ hash }) => hash, wide: true },
        ],
        nameOf: ({ number }) => String(number),
        none: "No records.",
      });
      return moreNote(context, answer.value.next_cursor);
    },
  },
  {
    ...audit,
    words: ["audit", "check"],
    says: "Whether the chain of the audit is whole; 2 if it is not",
    examples: ["audit check"],
    async run(context) {
      const answer = await context.admin.call(ADMIN.auditCheck, {});
      if (!answer.ok) return refuse(context, answer);
      const { whole, records, problem } = answer.value;
      const message = whole
        ? `The chain of ${records} records is whole.`
        : `The chain is broken: ${safe(problem ?? "")}`;
      context.printer.done(answer.value, whole ? "whole" : "broken", message);
      return whole ? EXIT.ok : EXIT.attention;
    },
  },
  {
    words: ["node", "show"],
    says: "One znode and its children",
    takes: [{ name: "PATH" }],
    options: LIST_OPTIONS,
    examples: ["node show /jobs"],
    permission: ADMIN.node.permission,
    talksTo: toAdmin,
    async run(context) {
      const path = context.args[0] ?? "/";
      const { given } = context;
      const limit = Math.min(200, given.number("limit") ?? 50);
      const answer = await context.admin.call(ADMIN.node, { query: { path, limit } });
      if (!answer.ok) return refuse(context, answer);
      const { value } = answer;
      context.printer.show(value, value.path, (printer) => [
        ...printer.fields([
          ["Path", value.path],
          ["Version", String(value.version)],
          ["Created", printer.time(value.created)],
          ["Modified", printer.time(value.modified)],
          ["Ephemeral", value.ephemeral ? "yes" : null],
          ["Children", String(value.children_count)],
        ]),
        ...(value.encoding === "empty" ? [] : ["", safeLines(value.data)]),
        ...(value.children.length === 0 ? [] : ["", ...value.children.map((name) => safe(name))]),
      ]);
      return moreNote(context, value.next_cursor);
    },
  },
  {
    words: ["mail", "list"],
    says: "The outbox of a development fleet, newest first",
    options: LIST_OPTIONS,
    examples: ["mail list --limit 3"],
    permission: ADMIN.mails.permission,
    talksTo: toAdmin,
    async run(context) {
      const answer = await readPages(context.given, (page) => context.admin.call(ADMIN.mails, { query: page }));
      if (!answer.ok) return refuse(context, answer);
      showMails(context, answer.value, answer.value.items);
      return moreNote(context, answer.value.next_cursor);
    },
  },
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
        says: "for this collection only; may be repeated",
      },
      {
        name: "tenant",
        value: "TENANT",
        many: true,
        says: "for this tenant of the job queue, * for all; may be repeated",
      },
      { name: "days", value: "N", kind: "number", says: "until it expires; 90 if not given" },
      REASON,
      DRY_RUN,
    ],
    examples: ['token create ada --role depositor --collection sluice_demo_content --reason "new depositor"'],
    async run(context) {
      const { given, printer, args } = context;
      const role = ROLES.find((each) => each === given.text("role"));
      if (role === undefined) return stop(context, EXIT.usage, "which role?", `add --role ${ROLES.join("|")}`);
      const [name = ""] = args;
      const collections = given.texts("collection").length === 0 ? ["*"] : [...given.texts("collection")];
      const tenants = given.texts("tenant").length === 0 ? {} : { tenants: [...given.texts("tenant")] };
      const days = given.number("days") ?? 90;
      if (given.has("dry-run")) {
        const raw = { name, role, collections, ...tenants, expires_in_days: days };
        printer.done(
          raw,
          name,
          `would make a token for ${name}: ${role} of ${collections.join(", ")}, for ${days} days`,
        );
        return EXIT.ok;
      }
      const reason = await reasonFor(context);
      if (!reason.ok) return reason.code;
      const body = { name, role, collections, ...tenants, expires_in_days: days, reason: reason.value };
      const answer = await context.admin.call(ADMIN.makeToken, { body });
      if (!answer.ok) return refuse(context, answer);
      printer.done(answer.value, answer.value.id, answer.value.token);
      printer.note(
        `Token ${answer.value.id} for ${name} (${role}), until ${answer.value.expires}. It is shown this once and kept nowhere.`,
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
