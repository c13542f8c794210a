/** What can be done about one job now. */
import { ADMIN, type JobDetail, type JobRequest } from "@sluice/wire";
import { useState } from "preact/hooks";
import { call } from "../api.ts";
import { useModel, useSession } from "../session.tsx";
import { ActionDialog } from "./action-dialog.tsx";
import { harmlessFirst, jobWords, saysOf } from "./words.ts";

interface JobActionsProps {
  readonly job: JobDetail;
  readonly onDone: () => void;
}

export function JobActions({ job, onDone }: JobActionsProps) {
  const { can } = useSession();
  const [asked, setAsked] = useState<string | null>(null);
  if (!can(ADMIN.jobAction) || job.archived) return null;
  const possible = job.actions.filter((action) => action !== "resume" || job.resume_at !== null);
  return (
    <>
      {harmlessFirst(possible, jobWords).map((action) => (
        <button
          key={action}
          type="button"
          class={jobWords(action).danger === true ? "danger quietly" : ""}
          onClick={() => setAsked(action)}
        >
          {jobWords(action).label}
        </button>
      ))}
      {asked === null ? null : <JobDialog job={job} action={asked} onDone={onDone} onClose={() => setAsked(null)} />}
    </>
  );
}

interface JobDialogProps extends JobActionsProps {
  readonly action: string;
  readonly onClose: () => void;
}

function JobDialog({ job, action, onDone, onClose }: JobDialogProps) {
  const { label, danger } = jobWords(action);
  const says = saysOf(useModel().job_actions, action);
  const [at, setAt] = useState(job.resume_at ?? "");
  const [priority, setPriority] = useState(job.priority ?? 0);
  return (
    <ActionDialog
      title={`${label} ${job.jid}`}
      says={says}
      verb={label}
      word={job.jid}
      danger={danger === true}
      onDone={onDone}
      onClose={onClose}
      send={(sent) =>
        call(ADMIN.jobAction, {
          params: { id: job.jid },
          body: {
            // Both come from the server's own tables.
            action: action as JobRequest["action"],
            ...sent,
            ...(action === "resume" && at !== job.resume_at ? { at: at as NonNullable<JobRequest["at"]> } : {}),
            ...(action === "priority" ? { priority } : {}),
          },
        })
      }
    >
      {action === "resume" ? (
        <label class="field">
          Go on at
          <select name="at" value={at} onChange={({ currentTarget }) => setAt(currentTarget.value)}>
            {job.resume_choices.toReversed().map((state) => (
              <option key={state} value={state}>
                {state === job.resume_at ? `${state} (the right one)` : state}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      {action === "priority" ? (
        <label class="field">
          Priority
          <input
            name="priority"
            type="number"
            min={0}
            max={99}
            required
            value={priority}
            onInput={({ currentTarget }) => setPriority(currentTarget.valueAsNumber)}
          />
        </label>
      ) : null}
    </ActionDialog>
  );
}
