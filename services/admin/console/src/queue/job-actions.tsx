/** What can be done about a job of the queue now. */
import { JOBS, type QueuedJobDetail } from "@sluice/wire";
import type { Answer } from "@sluice/client";
import { useState } from "preact/hooks";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { call } from "../api.ts";
import { EditJob } from "./edit-job.tsx";
import { useMayAct } from "./parts.tsx";
import { commandTime } from "./words.ts";

type Job = QueuedJobDetail;

interface Why {
  readonly reason: string;
}

interface Action {
  readonly label: string;
  readonly says: string;
  readonly danger?: true;
  readonly when: (job: Job) => boolean;
  readonly send: (job: Job, query: Why) => Promise<Answer<unknown>>;
  readonly done: string;
}

const isHeld = ({ state }: Job): boolean => state === "RUNNING" || state === "RUNQUEUED";
const isOver = ({ state, nextRun }: Job): boolean => state === "FINISHED" && nextRun === null;
const body = ({ jobID }: Job) => ({ jobID });
const params = ({ tenant }: Job) => ({ tenant });

export const JOB_ACTIONS: readonly Action[] = [
  {
    label: "Run now",
    says: "It is offered at once to whoever takes jobs of its type, and then goes on as planned.",
    when: ({ state }) => state === "QUEUED",
    send: (job, query) =>
      call(JOBS.updateJob, {
        params: params(job),
        query,
        body: { ...body(job), nextRun: commandTime(new Date().toISOString()) },
      }),
    done: "is offered now",
  },
  {
    label: "Requeue",
    says: "It goes back into the queue and is offered at once; whoever has it can no longer say how it ended.",
    when: (job) => job.state === "FAILED" || job.state === "CANCELLED" || isHeld(job),
    send: (job, query) => call(JOBS.requeueJobs, { params: params(job), query, body: { jobIDs: [job.jobID] } }),
    done: "is in the queue again",
  },
  {
    label: "Fail",
    says: "It is taken from its worker and kept as FAILED. If it repeats, it does so no longer.",
    danger: true,
    when: isHeld,
    send: (job, query) => call(JOBS.failJob, { params: params(job), query, body: body(job) }),
    done: "has failed",
  },
  {
    label: "Cancel",
    says: "It will not run. If it has a parent, the parent is told.",
    danger: true,
    when: (job) => job.state === "QUEUED" || (job.state === "PAUSED" && job.parentJobID !== null),
    send: (job, query) => call(JOBS.cancelJob, { params: params(job), query, body: body(job) }),
    done: "is cancelled",
  },
  {
    label: "Stop repeating",
    says: "The run that is under way is its last.",
    danger: true,
    when: (job) => job.repeat !== "" && isHeld(job),
    send: (job, query) =>
      call(JOBS.updateJob, { params: params(job), query, body: { ...body(job), shouldClearRepeat: true } }),
    done: "does not repeat any more",
  },
  {
    label: "Delete",
    says: "It goes, with its children and all that is known of their runs.",
    danger: true,
    when: (job) => !isHeld(job) && !isOver(job) && !(job.state === "PAUSED" && job.parentJobID === null),
    send: (job, query) => call(JOBS.deleteJob, { params: params(job), query, body: body(job) }),
    done: "is deleted",
  },
];

interface QueueJobActionsProps {
  readonly job: Job;
  readonly onDone: () => void;
}

export function QueueJobActions({ job, onDone }: QueueJobActionsProps) {
  const mayAct = useMayAct();
  const [asked, setAsked] = useState<Action | "edit" | null>(null);
  const close = (): void => setAsked(null);
  if (!mayAct(job.tenant) || isOver(job)) return null;
  return (
    <>
      <button type="button" onClick={() => setAsked("edit")}>
        Change
      </button>
      {JOB_ACTIONS.filter(({ when }) => when(job)).map((action) => (
        <button
          key={action.label}
          type="button"
          class={action.danger === true ? "danger quietly" : ""}
          onClick={() => setAsked(action)}
        >
          {action.label}
        </button>
      ))}
      {asked === "edit" ? <EditJob job={job} onDone={onDone} onClose={close} /> : null}
      {asked === null || asked === "edit" ? null : (
        <ActionDialog
          title={`${asked.label}: job ${job.jobID}`}
          says={asked.says}
          verb={asked.label}
          word={String(job.jobID)}
          danger={asked.danger === true}
          onDone={onDone}
          onClose={close}
          send={async ({ reason }) => {
            const answer = await asked.send(job, { reason });
            return answer.ok ? { ...answer, value: { message: `job ${job.jobID} ${asked.done}` } } : answer;
          }}
        />
      )}
    </>
  );
}
