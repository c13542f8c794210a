/** What a job consists of, to be filled in: for a new one, and for one that is changed. */
import type { ComponentChildren } from "preact";
import { PRIORITIES, repeatInWords } from "./words.ts";

export interface JobFields {
  readonly data: string;
  readonly priority: string;
  readonly repeat: string;
  /** As a field for a local time has it; empty: not said. */
  readonly runAt: string;
}

interface JobFieldsProps {
  readonly fields: JobFields;
  readonly onChange: (fields: JobFields) => void;
  readonly runAtLabel: string;
  readonly wrong: string | null;
}

export const JobFieldset = ({ fields, onChange, runAtLabel, wrong }: JobFieldsProps) => (
  <>
    <label class="field">
      Data <span class="quiet">a JSON object</span>
      <textarea
        name="data"
        rows={8}
        spellcheck={false}
        value={fields.data}
        onInput={({ currentTarget }) => onChange({ ...fields, data: currentTarget.value })}
      />
    </label>
    {wrong === null ? null : <Wrong>{wrong}</Wrong>}
    <label class="field">
      Priority
      <select
        name="priority"
        value={fields.priority}
        onChange={({ currentTarget }) => onChange({ ...fields, priority: currentTarget.value })}
      >
        {PRIORITIES.map(([value, label]) => (
          <option key={value} value={value}>
            {label} ({value})
          </option>
        ))}
      </select>
    </label>
    <label class="field">
      Repeat <span class="quiet">such as HOURLY, or FINISHED, +1 DAY, START OF DAY, +4 HOURS; empty: once</span>
      <input
        name="repeat"
        autoComplete="off"
        value={fields.repeat}
        onInput={({ currentTarget }) => onChange({ ...fields, repeat: currentTarget.value })}
      />
    </label>
    {fields.repeat.trim() === "" ? null : <p class="quiet">{repeatInWords(fields.repeat)}</p>}
    <label class="field">
      {runAtLabel} <span class="quiet">your local time</span>
      <input
        name="runAt"
        type="datetime-local"
        step={1}
        value={fields.runAt}
        onInput={({ currentTarget }) => onChange({ ...fields, runAt: currentTarget.value })}
      />
    </label>
  </>
);

export const Wrong = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="note bad" role="alert">
    {children}
  </p>
);
