/** Audit, nodes, mails, and who one is. */
import { ADMIN, type AuditVerdict, type AuditView } from "@sluice/wire";
import { type Command, toAdmin } from "../command.ts";
import { refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { LIST_OPTIONS, readPages } from "../pages.ts";
import { safe, safeLines } from "../output/text.ts";
import { moreNote, showMails } from "./batches.ts";

const wholeAudit = ({ records, archived, anchors, signatures, left }: AuditVerdict): string =>
  [
    `The chain of ${records} records is whole.`,
    ...(archived === 0
      ? []
      : [`${archived} of them are in the archive, behind ${anchors} anchors (signatures: ${signatures}).`]),
    ...(left === null
      ? []
      : [`The archive keeps ${left.records} more (${left.first} to ${left.last}) of a past that a restore has left.`]),
  ].join("\n");

const audit = { permission: ADMIN.audit.permission, talksTo: toAdmin } as const;

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
      const { whole, problem } = answer.value;
      const message = whole ? wholeAudit(answer.value) : `The chain is broken: ${safe(problem ?? "")}`;
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
];
