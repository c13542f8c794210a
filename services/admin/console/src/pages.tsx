/** Which pages there are, for whom, and where: the menu and the routes are made from this. */
import { ADMIN, type Endpoint, JOBS, type Model } from "@sluice/wire";
import type { ComponentChildren } from "preact";
import { Audit } from "./pages/audit.tsx";
import { Batch } from "./pages/batch.tsx";
import { Batches } from "./pages/batches.tsx";
import { Collections } from "./pages/collections.tsx";
import { Handler } from "./pages/handler.tsx";
import { Handlers } from "./pages/handlers.tsx";
import { Home } from "./pages/home.tsx";
import { Job } from "./pages/job.tsx";
import { Jobs } from "./pages/jobs.tsx";
import { Maintenance } from "./pages/maintenance.tsx";
import { MyDeposits } from "./pages/my-deposits.tsx";
import { MySchedules } from "./pages/my-schedules.tsx";
import { Nodes } from "./pages/nodes.tsx";
import { Operation, Operations } from "./pages/operations.tsx";
import { Outbox } from "./pages/outbox.tsx";
import { QueueJob } from "./pages/queue-job.tsx";
import { QueueTenant } from "./pages/queue-tenant.tsx";
import { Queues } from "./pages/queues.tsx";
import { Runners } from "./pages/runners.tsx";
import { Schedules } from "./pages/schedules.tsx";
import { Tokens } from "./pages/tokens.tsx";
import { Workers } from "./pages/workers.tsx";
import type { Place } from "./router.tsx";

export interface PageRow {
  readonly pattern: string;
  /** In the menu; absent: reached from another page. */
  readonly menu?: string;
  /** What one must be allowed to ask for. */
  readonly needs: Endpoint;
  readonly when?: (model: Model) => boolean;
  readonly title: string;
  readonly show: (params: Readonly<Record<string, string>>, place: Place) => ComponentChildren;
}

/** The first that matches and is allowed is shown: depositors find their own first page where others find the fleet. */
export const PAGES: readonly PageRow[] = [
  { pattern: "/", menu: "Home", title: "Home", needs: ADMIN.overview, show: () => <Home /> },
  {
    pattern: "/",
    menu: "My batches",
    title: "My batches",
    needs: ADMIN.batches,
    show: (_, place) => <MyDeposits place={place} />,
  },
  {
    pattern: "/batches",
    menu: "Batches",
    title: "Batches",
    needs: ADMIN.batches,
    show: (_, place) => <Batches place={place} />,
  },
  {
    pattern: "/batches/{id}",
    title: "Batch",
    needs: ADMIN.batch,
    show: ({ id = "" }, place) => <Batch key={id} id={id} place={place} />,
  },
  { pattern: "/jobs", menu: "Jobs", title: "Jobs", needs: ADMIN.jobs, show: (_, place) => <Jobs place={place} /> },
  { pattern: "/jobs/{id}", title: "Job", needs: ADMIN.job, show: ({ id = "" }) => <Job key={id} id={id} /> },
  {
    pattern: "/operations",
    menu: "Operations",
    title: "Operations",
    needs: ADMIN.operations,
    show: () => <Operations />,
  },
  {
    pattern: "/operations/{id}",
    title: "Operation",
    needs: ADMIN.operation,
    show: ({ id = "" }) => <Operation key={id} id={id} />,
  },
  {
    pattern: "/collections",
    menu: "Collections",
    title: "Collections",
    needs: ADMIN.collections,
    show: () => <Collections />,
  },
  {
    pattern: "/my-schedules",
    menu: "My schedules",
    title: "My deposits for later",
    needs: ADMIN.ownSchedules,
    when: ({ schedules }) => schedules,
    show: (_, place) => <MySchedules place={place} />,
  },
  { pattern: "/workers", menu: "Workers", title: "Workers and stages", needs: ADMIN.workers, show: () => <Workers /> },
  { pattern: "/queues", menu: "Queues", title: "Queues", needs: JOBS.listTenants, show: () => <Queues /> },
  {
    pattern: "/queues/{tenant}",
    title: "Queue",
    needs: JOBS.listJobs,
    show: ({ tenant = "" }, place) => <QueueTenant key={tenant} tenant={tenant} place={place} />,
  },
  {
    pattern: "/queues/{tenant}/jobs/{id}",
    title: "Job of a queue",
    needs: JOBS.describeJob,
    show: ({ tenant = "", id = "" }) => <QueueJob key={id} tenant={tenant} id={id} />,
  },
  {
    pattern: "/schedules",
    menu: "Schedules",
    title: "Schedules",
    needs: JOBS.listJobs,
    show: (_, place) => <Schedules place={place} />,
  },
  {
    pattern: "/handlers",
    menu: "Handlers",
    title: "Handlers",
    needs: JOBS.listHandlers,
    show: (_, place) => <Handlers place={place} />,
  },
  {
    pattern: "/handlers/{tenant}/{type}",
    title: "Handler",
    needs: JOBS.getHandler,
    show: ({ tenant = "", type = "" }, place) => (
      <Handler key={`${tenant} ${type}`} tenant={tenant} type={type} place={place} />
    ),
  },
  { pattern: "/runners", menu: "Runners", title: "Runners", needs: JOBS.listWorkers, show: () => <Runners /> },
  { pattern: "/audit", menu: "Audit", title: "Audit", needs: ADMIN.audit, show: (_, place) => <Audit place={place} /> },
  {
    pattern: "/maintenance",
    menu: "Maintenance",
    title: "Maintenance",
    needs: ADMIN.fsck,
    show: () => <Maintenance />,
  },
  { pattern: "/nodes", title: "Nodes", needs: ADMIN.node, show: (_, place) => <Nodes place={place} /> },
  { pattern: "/tokens", menu: "Tokens", title: "Tokens", needs: ADMIN.tokens, show: () => <Tokens /> },
  {
    pattern: "/outbox",
    menu: "Outbox",
    title: "Outbox",
    needs: ADMIN.mails,
    when: ({ development }) => development,
    show: (_, place) => <Outbox place={place} />,
  },
];
