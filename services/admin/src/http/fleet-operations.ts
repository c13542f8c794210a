/** The fleet at a glance, and its collections. */
import { type Caller, inScope } from "@sluice/access";
import type { Operation } from "@sluice/http-api";
import { parseJobId } from "@sluice/queue-core";
import { ADMIN, type CollectionView } from "@sluice/wire";
import { stageViews } from "../fleet/overview.ts";
import { noJobs } from "../index/job-index.ts";
import { readHoldViews } from "../views/holds.ts";
import { workerView } from "../views/workers.ts";
import { connected, SILENCE } from "./answers.ts";
import type { AdminDeps } from "./deps.ts";
import { serve } from "./serve.ts";

const MINUTE_MS = 60_000;

export const fleetOperations = (deps: AdminDeps): readonly Operation[] => [
  serve(ADMIN.overview, async ({ caller }) => {
    const value = await deps.overviews.overview(caller.scope);
    return value === null ? SILENCE : { value };
  }),
  serve(ADMIN.overviewEvents, ({ caller: { scope }, request, response }) =>
    deps.topics.stream(
      {
        key: `overview ${scope === "all" ? "*" : scope.join("\0")}`,
        event: "overview",
        async look() {
          const value = await deps.overviews.overview(scope);
          return value === null ? SILENCE : { value, ended: false };
        },
      },
      request,
      response,
    ),
  ),
  serve(ADMIN.history, ({ query }) => ({
    value: { samples: [...deps.history.since(deps.clock.nowMs() - (query.minutes ?? 60) * MINUTE_MS)] },
  })),
  serve(ADMIN.stages, async () => {
    const look = await deps.overviews.look();
    return look === null ? SILENCE : { value: { items: stageViews(look) } };
  }),
  serve(ADMIN.workers, async ({ query, caller }) => {
    const look = await deps.overviews.look();
    if (look === null) return SILENCE;
    const items = look.workers
      .filter(({ stage }) => query.stage === undefined || stage === query.stage)
      .map((worker) => workerView(worker, look.holds.drains));
    return { value: { items: items.map((worker) => ({ ...worker, jobs: jobsFor(deps, caller, worker.jobs) })) } };
  }),
  serve(ADMIN.collections, async ({ caller }) => {
    const open = connected(deps.queue);
    if (open === null) return SILENCE;
    const { session } = open.context;
    const [counted, holds] = await Promise.all([deps.index.count(session), readHoldViews(session)]);
    if (counted === null || holds === null) return SILENCE;
    const names = new Set([...deps.profiles.names(), ...holds.collections.keys(), ...counted.byCollection.keys()]);
    const items = [...names]
      .filter((name) => inScope(caller.scope, name))
      .sort()
      .map((name): CollectionView => {
        const { jobs, spaceNeeded } = counted.byCollection.get(name) ?? noJobs();
        const profile = deps.profiles.get(name);
        return {
          name,
          description: profile.ok ? profile.profile.description : "",
          hold: holds.collections.get(name) ?? null,
          jobs: { ...jobs },
          space_needed_bytes: spaceNeeded,
        };
      });
    return { value: { items, as_of: new Date(counted.atMs).toISOString(), unread: counted.unread } };
  }),
];

/** A caller who is bound to collections is told of their own jobs. */
const jobsFor = ({ index }: AdminDeps, { scope }: Caller, jobs: readonly string[]): string[] =>
  jobs.filter((raw) => {
    if (scope === "all") return true;
    const id = parseJobId(raw);
    const facts = id === null ? null : index.factsOf(id);
    return facts !== null && inScope(scope, facts.collection);
  });
