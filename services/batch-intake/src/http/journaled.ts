/** What callers see of submissions in the journal: those that wait for the queue, and those that never came to it. */
import { problem, route } from "@sluice/http-api";
import { batchId, type BatchUuid, parseBatchUuid, type Submission } from "@sluice/queue-core";
import { Router } from "express";
import type { Backlog } from "../journal/backlog.ts";
import type { Refusal } from "../journal/refused.ts";
import type { QueueReader } from "../queue-reader.ts";
import { FROM_QUEUE, showBatch } from "./reading/views.ts";

export interface JournaledDeps {
  readonly backlog: Pick<Backlog, "find" | "refusals">;
  readonly reading: { readonly reader: Pick<QueueReader, "batchOf"> };
}

export function journaledRoutes({ backlog, reading }: JournaledDeps): Router {
  const router = Router();
  router.get("/batches/:id", async (req, res, next) => {
    const uuid = parseBatchUuid(req.params.id);
    const waiting = uuid === null ? null : await backlog.find(uuid);
    if (uuid !== null && waiting !== null) res.json(showWaiting(uuid, waiting));
    else if (
      uuid !== null &&
      backlog.refusals(uuid).length > 0 &&
      (await reading.reader.batchOf(uuid)).kind !== "found"
    )
      res.json(showRefused(uuid, backlog.refusals(uuid)));
    else next();
  });
  router.get(
    "/batches/:id/refusals",
    route((req) => {
      const uuid = parseBatchUuid(String(req.params["id"]));
      if (uuid === null) return Promise.resolve({ problem: problem("NOT_FOUND", "expected bid-UUID") });
      return Promise.resolve({ status: 200, body: { refusals: backlog.refusals(uuid).map(showRefusal) } });
    }),
  );
  return router;
}

const NOTHING_YET = {
  // A batch without a number is shown without one.
  id: batchId(0),
  expansion: null,
  report: null,
  counts: { "batch-processing": 0, "batch-failed": 0, "batch-completed": 0, "batch-deleted": 0 },
} as const;

const showWaiting = (uuid: BatchUuid, submission: Submission) => ({
  ...shown(uuid, submission, "it is in the journal and waits for the queue"),
  status: "Accepted",
});

function showRefused(uuid: BatchUuid, refusals: readonly Refusal[]) {
  const last = refusals.at(-1);
  const submission = last?.submission as Submission;
  return { ...shown(uuid, submission, last?.why ?? ""), status: "Refused" };
}

function shown(uuid: BatchUuid, submission: Submission, message: string) {
  const status = { status: "Pending", last_modified: String(submission["submission_date"]), message } as const;
  return {
    ...showBatch({ ...NOTHING_YET, status, submission: { ...submission, batchID: uuid } }, FROM_QUEUE),
    bid: null,
  };
}

const showRefusal = ({ uuid, why, refused_at }: Refusal) => ({ id: uuid, why, refused_at });
