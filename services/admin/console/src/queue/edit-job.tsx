import { JOBS, type QueuedJobDetail } from "@sluice/wire";
import { useState } from "preact/hooks";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { call } from "../api.ts";
import { type JobFields, JobFieldset } from "./job-form.tsx";
import { commandTime, dataTextOf, parseJobData } from "./words.ts";

interface EditJobProps {
  readonly job: QueuedJobDetail;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Only what was changed is sent: the data are changed by their workers, too. */
export function EditJob({ job, onDone, onClose }: EditJobProps) {
  const { tenant, jobID } = job;
  const [shown] = useState<JobFields>(() => ({
    data: dataTextOf(job),
    priority: String(job.priority),
    repeat: job.repeat,
    runAt: "",
  }));
  const [fields, setFields] = useState(shown);
  const data = parseJobData(fields.data);
  const repeat = fields.repeat.trim();
  return (
    <ActionDialog
      title={`Change job ${jobID}`}
      says="Whoever has it in hand goes on with what they were given."
      verb="Change"
      word={String(jobID)}
      onDone={onDone}
      onClose={onClose}
      send={async ({ reason }) => {
        const body = {
          jobID,
          ...(fields.data === shown.data ? {} : { data: fields.data }),
          ...(fields.priority === shown.priority ? {} : { jobPriority: Number(fields.priority) }),
          ...(repeat === shown.repeat ? {} : repeat === "" ? { shouldClearRepeat: true } : { repeat }),
          ...(fields.runAt === "" ? {} : { nextRun: commandTime(fields.runAt) }),
        };
        const answer = await call(JOBS.updateJob, { params: { tenant }, query: { reason }, body });
        return answer.ok ? { ...answer, value: { message: `job ${jobID} was changed` } } : answer;
      }}
    >
      <JobFieldset fields={fields} onChange={setFields} runAtLabel="Next run" wrong={data.ok ? null : data.why} />
    </ActionDialog>
  );
}
