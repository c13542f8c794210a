/** One action on many jobs: first counted and shown, then done, with its progress on a page of its own. */
import { ADMIN, type BulkPreview, type BulkRequest } from "@sluice/wire";
import { useEffect, useState } from "preact/hooks";
import { call, type Trouble, troubleOf } from "../api.ts";
import { count, many } from "../format.ts";
import { go } from "../router.tsx";
import { State, TroubleBox, Waiting } from "../ui/bits.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Confirmation, NEEDS_CONFIRMATION, Reason, REASON_MIN } from "./action-dialog.tsx";
import { useModel } from "../session.tsx";
import { jobWords, saysOf } from "./words.ts";

interface BulkDialogProps {
  readonly action: string;
  readonly filter: BulkRequest["filter"];
  readonly onClose: () => void;
}

export function BulkDialog({ action: name, filter, onClose }: BulkDialogProps) {
  // From the server's own tables.
  const action = name as BulkRequest["action"];
  const { label, danger } = jobWords(name);
  const says = saysOf(useModel().job_actions, name);
  const [reason, setReason] = useState("");
  const [preview, setPreview] = useState<BulkPreview | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [typed, setTyped] = useState("");
  const [priority, setPriority] = useState(50);
  const [busy, setBusy] = useState(false);
  const more = name === "priority" ? { priority } : {};

  useEffect(() => {
    void call(ADMIN.bulkPreview, { body: { action, reason: "preview", filter, dry_run: true, ...more } }).then(
      (answer) => {
        if (answer.ok) setPreview(answer.value);
        else setTrouble(troubleOf(answer));
      },
    );
  }, []);

  const confirming = trouble?.code === NEEDS_CONFIRMATION;
  const word = String(preview?.count ?? 0);
  const ready =
    !busy &&
    preview !== null &&
    preview.count > 0 &&
    reason.trim().length >= REASON_MIN &&
    (!confirming || typed === word);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (!ready) return;
    setBusy(true);
    const confirm = confirming ? { confirm: true } : {};
    const expected = { expected_count: preview.count };
    const answer = await call(ADMIN.bulkAction, {
      body: { action, reason: reason.trim(), filter, ...more, ...confirm, ...expected },
    });
    setBusy(false);
    if (answer.ok) go(`/operations/${encodeURIComponent(answer.value.id)}`);
    else setTrouble(troubleOf(answer));
  }

  return (
    <Dialog title={`${label} many jobs`} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <p>{says}</p>
        {preview === null ? trouble === null ? <Waiting /> : null : <Preview preview={preview} label={label} />}
        {name === "priority" ? (
          <label class="field">
            Priority
            <input
              type="number"
              min={0}
              max={99}
              value={priority}
              onInput={({ currentTarget }) => setPriority(currentTarget.valueAsNumber)}
            />
          </label>
        ) : null}
        <Reason value={reason} onChange={setReason} />
        {confirming ? (
          <Confirmation why={trouble.detail} word={word} typed={typed} onType={setTyped} />
        ) : (
          <TroubleBox trouble={trouble} />
        )}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={danger === true ? "danger" : "primary"} disabled={!ready}>
            {busy ? "…" : `${label} ${many(preview?.count ?? 0, "job")}`}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const top = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 5)
    .map(([name, n]) => `${name} ${count(n)}`)
    .join(", ");

const Preview = ({ preview, label }: { readonly preview: BulkPreview; readonly label: string }) => (
  <div class="note" role="status">
    <p>
      <strong>{label}</strong> would touch <strong>{many(preview.count, "job")}</strong>
      {preview.not_allowed > 0
        ? `; ${many(preview.not_allowed, "more was", "more were")} found in states that do not allow it`
        : ""}
      .
    </p>
    {preview.count === 0 ? null : (
      <>
        <p class="quiet">
          By state: {top(preview.by_state)}. By collection: {top(preview.by_profile)}.
        </p>
        <ul class="examples">
          {preview.examples.slice(0, 4).map(({ id, status, message }) => (
            <li key={id}>
              <code>{id}</code> <State of={status} /> <span class="quiet clip">{message}</span>
            </li>
          ))}
        </ul>
      </>
    )}
  </div>
);
