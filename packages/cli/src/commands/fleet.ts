import { STAGES } from "@sluice/queue-core";
import { ADMIN, type CollectionView, type StageView, type WorkerView } from "@sluice/wire";
import { type Command, toAdmin } from "../command.ts";
import { refuse, stop } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { orMaybe } from "../near.ts";
import type { Column } from "../output/table.ts";
import { showBytes, showSeconds } from "../output/text.ts";
import { overviewLines } from "../top/overview-lines.ts";
import { holdText } from "./columns.ts";

const countOf = (jobs: CollectionView["jobs"], ...states: readonly (keyof CollectionView["jobs"])[]): string =>
  String(states.reduce((sum, state) => sum + jobs[state], 0));
const allOf = (jobs: CollectionView["jobs"]): string =>
  String(Object.values(jobs).reduce((sum, count) => sum + count, 0));

const COLLECTION_COLUMNS: readonly Column<CollectionView>[] = [
  { title: "PROFILE", of: ({ name }) => name },
  { title: "JOBS", of: ({ jobs }) => allOf(jobs), right: true },
  { title: "HELD", of: ({ jobs }) => countOf(jobs, "Held"), right: true },
  { title: "FAILED", of: ({ jobs }) => countOf(jobs, "Failed"), right: true },
  { title: "COMPLETED", of: ({ jobs }) => countOf(jobs, "Completed"), right: true },
  { title: "SPACE", of: ({ space_needed_bytes: bytes }) => showBytes(bytes), right: true },
  { title: "HOLD", of: ({ hold }) => holdText(hold), flexible: true },
  { title: "DESCRIPTION", of: ({ description }) => description, wide: true },
];

const STAGE_COLUMNS: readonly Column<StageView>[] = [
  { title: "STAGE", of: ({ stage }) => stage },
  { title: "WAITING", of: ({ waiting }) => String(waiting), right: true },
  { title: "READY", of: ({ ready, exact }) => `${exact ? "" : "~"}${ready}`, right: true },
  { title: "OLDEST", of: ({ ready, oldest_ready_seconds: age }) => (ready === 0 ? "" : showSeconds(age)), right: true },
  { title: "IN HAND", of: ({ in_hand: inHand }) => String(inHand), right: true },
  { title: "WORKERS", of: ({ workers }) => String(workers), right: true },
  { title: "PAUSED", of: ({ paused }) => holdText(paused), flexible: true },
];

const WORKER_COLUMNS: readonly Column<WorkerView>[] = [
  { title: "WORKER", of: ({ id }) => id },
  { title: "STAGE", of: ({ stage }) => stage },
  { title: "IN HAND", of: ({ jobs, concurrency }) => `${jobs.length}/${concurrency}`, right: true },
  { title: "MEMORY", of: ({ memory_bytes: bytes }) => showBytes(bytes), right: true },
  { title: "SINCE", of: ({ since }, { time }) => time(since) },
  { title: "HOST", of: ({ host, pid }) => `${host}:${pid}` },
  { title: "DRAINING", of: ({ draining }) => holdText(draining), flexible: true },
  { title: "VERSION", of: ({ version }) => version, wide: true },
  { title: "JOBS", of: ({ jobs }) => jobs.join(","), wide: true },
];

const fleet = { permission: ADMIN.overview.permission, talksTo: toAdmin } as const;

export const FLEET_COMMANDS: readonly Command[] = [
  {
    words: ["collection", "list"],
    says: "Collections, their jobs and their holds",
    examples: ["collection list"],
    permission: ADMIN.collections.permission,
    talksTo: toAdmin,
    async run(context) {
      const answer = await context.admin.call(ADMIN.collections, {});
      if (!answer.ok) return refuse(context, answer);
      const { items, unread } = answer.value;
      const shape = {
        columns: COLLECTION_COLUMNS,
        nameOf: ({ name }: CollectionView) => name,
        none: "No collections.",
      };
      context.printer.list({ raw: answer.value, items, ...shape });
      if (unread > 0) context.printer.note(`${unread} jobs have not been read yet and are counted nowhere.`);
      return EXIT.ok;
    },
  },
  {
    words: ["collection", "show"],
    says: "One collection: jobs by state, and its hold",
    takes: [{ name: "PROFILE", dynamic: "profile" }],
    examples: ["collection show sluice_demo_content"],
    permission: ADMIN.collections.permission,
    talksTo: toAdmin,
    async run(context) {
      const answer = await context.admin.call(ADMIN.collections, {});
      if (!answer.ok) return refuse(context, answer);
      const { items } = answer.value;
      const [name = ""] = context.args;
      const found = items.find((each) => each.name === name);
      if (found === undefined)
        return stop(
          context,
          EXIT.notFound,
          `there is no collection ${name}${orMaybe(
            name,
            items.map((each) => each.name),
          )}`,
        );
      const jobs = Object.entries(found.jobs).filter(([, count]) => count > 0);
      context.printer.show(found, name, (printer) =>
        printer.fields([
          ["Collection", found.name],
          ["Description", found.description],
          ["Hold", holdText(found.hold) || "none"],
          ["Jobs", jobs.map(([state, count]) => `${state} ${count}`).join(", ") || "none"],
          ["Space", showBytes(found.space_needed_bytes)],
        ]),
      );
      return EXIT.ok;
    },
  },
  {
    ...fleet,
    words: ["queue", "show"],
    says: "The queue at a glance; 2 if something needs a look",
    examples: ["queue show"],
    async run(context) {
      const answer = await context.admin.call(ADMIN.overview, {});
      if (!answer.ok) return refuse(context, answer);
      const { value } = answer;
      context.printer.show(value, value.fleet_id, (printer) => overviewLines(value, printer, Infinity));
      return value.jobs.Failed > 0 || value.queue_paused !== null ? EXIT.attention : EXIT.ok;
    },
  },
  {
    ...fleet,
    words: ["stage", "list"],
    says: "The stages and their queues",
    examples: ["stage list"],
    async run(context) {
      const answer = await context.admin.call(ADMIN.stages, {});
      if (!answer.ok) return refuse(context, answer);
      const shape = { columns: STAGE_COLUMNS, nameOf: ({ stage }: StageView) => stage, none: "No stages." };
      context.printer.list({ raw: answer.value, items: answer.value.items, ...shape });
      return EXIT.ok;
    },
  },
  {
    ...fleet,
    words: ["stage", "show"],
    says: "One stage and its workers",
    takes: [{ name: "STAGE", choices: STAGES }],
    examples: ["stage show downloader"],
    async run(context) {
      const [stage = ""] = context.args;
      const [stages, workers] = await Promise.all([
        context.admin.call(ADMIN.stages, {}),
        context.admin.call(ADMIN.workers, { query: { stage } }),
      ]);
      if (!stages.ok) return refuse(context, stages);
      if (!workers.ok) return refuse(context, workers);
      const those = stages.value.items.filter((each) => each.stage === stage);
      const raw = { stage: those[0] ?? null, workers: workers.value.items };
      context.printer.show(raw, stage, (printer) => [
        ...printer.table(those, STAGE_COLUMNS),
        "",
        ...printer.table(workers.value.items, WORKER_COLUMNS),
      ]);
      return EXIT.ok;
    },
  },
  {
    ...fleet,
    words: ["worker", "list"],
    says: "The workers and what they have in hand",
    options: [{ name: "stage", value: "STAGE", choices: STAGES, says: "of this stage" }],
    examples: ["worker list --stage downloader"],
    async run(context) {
      const answer = await context.admin.call(ADMIN.workers, { query: { stage: context.given.text("stage") } });
      if (!answer.ok) return refuse(context, answer);
      const shape = { columns: WORKER_COLUMNS, nameOf: ({ id }: WorkerView) => id, none: "No workers." };
      context.printer.list({ raw: answer.value, items: answer.value.items, ...shape });
      return EXIT.ok;
    },
  },
  {
    ...fleet,
    words: ["worker", "show"],
    says: "One worker",
    takes: [{ name: "WORKER", dynamic: "worker" }],
    examples: ["worker show WORKER"],
    async run(context) {
      const answer = await context.admin.call(ADMIN.workers, {});
      if (!answer.ok) return refuse(context, answer);
      const [id = ""] = context.args;
      const found = answer.value.items.find((each) => each.id === id);
      if (found === undefined)
        return stop(
          context,
          EXIT.notFound,
          `there is no worker ${id}${orMaybe(
            id,
            answer.value.items.map((each) => each.id),
          )}`,
        );
      context.printer.show(found, id, (printer) =>
        printer.fields([
          ["Worker", found.id],
          ["Stage", found.stage],
          ["Host", `${found.host}, pid ${found.pid}`],
          ["Version", found.version],
          ["Since", printer.time(found.since)],
          ["In hand", `${found.jobs.length} of ${found.concurrency}: ${found.jobs.join(", ") || "nothing"}`],
          ["CPU", `${found.cpu_seconds.toFixed(0)} s`],
          ["Memory", showBytes(found.memory_bytes)],
          ["Draining", holdText(found.draining) || "no"],
        ]),
      );
      return EXIT.ok;
    },
  },
];
