import { JOBS } from "@sluice/wire";
import { useState } from "preact/hooks";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { call } from "../api.ts";
import { type JobFields, JobFieldset } from "./job-form.tsx";
import { commandTime, parseJobData } from "./words.ts";

const EMPTY: JobFields = { data: "{}", priority: "500", repeat: "", runAt: "" };

interface NewJobProps {
  /** Absent: one chooses. A tenant begins with its first job, so there is nothing else to make. */
  readonly tenant?: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function NewJob({ tenant: given, onDone, onClose }: NewJobProps) {
  const [tenant, setTenant] = useState(given ?? "default");
  const [name, setName] = useState("");
  const [unique, setUnique] = useState(false);
  const [fields, setFields] = useState(EMPTY);
  const data = parseJobData(fields.data);
  return (
    <ActionDialog
      title={given === undefined ? "New job" : `New job of ${given}`}
      says="It is run by whoever takes jobs of its type: a worker, or a handler of this tenant."
      verb="Create"
      word={name}
      onDone={onDone}
      onClose={onClose}
      send={async ({ reason }) => {
        const body = {
          name,
          // As it was typed: numbers keep their digits.
          ...(fields.data.trim() === "" ? {} : { data: fields.data }),
          jobPriority: Number(fields.priority),
          ...(unique ? { unique: true } : {}),
          ...(fields.repeat.trim() === "" ? {} : { repeat: fields.repeat.trim() }),
          ...(fields.runAt === "" ? {} : { firstRun: commandTime(fields.runAt) }),
        };
        const answer = await call(JOBS.createJob, { params: { tenant }, query: { reason }, body });
        return answer.ok ? { ...answer, value: { message: `job ${answer.value.jobID} was created` } } : answer;
      }}
    >
      {given === undefined ? (
        <label class="field">
          Tenant
          <input
            name="tenant"
            required
            pattern="[a-z0-9\-]{1,64}"
            autoComplete="off"
            value={tenant}
            onInput={({ currentTarget }) => setTenant(currentTarget.value)}
          />
        </label>
      ) : null}
      <label class="field">
        Type
        <input
          name="name"
          required
          maxLength={255}
          autoComplete="off"
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <label class="check">
        <input type="checkbox" checked={unique} onChange={({ currentTarget }) => setUnique(currentTarget.checked)} />{" "}
        The only one of its type
      </label>
      <JobFieldset fields={fields} onChange={setFields} runAtLabel="First run" wrong={data.ok ? null : data.why} />
    </ActionDialog>
  );
}
