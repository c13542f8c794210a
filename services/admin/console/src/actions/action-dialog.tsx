/** A change asks why, unless it is of one's own deposits. Where the server wants it confirmed, it says why, and the id must be typed. */
import type { Answer } from "@sluice/client";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Trouble, troubleOf } from "../api.ts";
import { TroubleBox } from "../ui/bits.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { say } from "../ui/toast.tsx";

export interface Sent {
  readonly reason: string;
  readonly confirm?: true;
}

interface ActionDialogProps {
  readonly title: string;
  readonly says: ComponentChildren;
  /** On the button. */
  readonly verb: string;
  /** What must be typed where a confirmation is needed. */
  readonly word: string;
  readonly danger?: boolean;
  readonly asksWhy?: boolean;
  readonly children?: ComponentChildren;
  readonly send: (sent: Sent) => Promise<Answer<{ readonly message: string }>>;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export const NEEDS_CONFIRMATION = "CONFIRMATION_NEEDED";
export const REASON_MIN = 3;

export function ActionDialog(props: ActionDialogProps) {
  const { title, says, verb, word, danger = false, asksWhy = true, children, send, onDone, onClose } = props;
  const [reason, setReason] = useState("");
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const confirming = trouble?.code === NEEDS_CONFIRMATION;
  const ready = !busy && (!asksWhy || reason.trim().length >= REASON_MIN) && (!confirming || typed === word);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (!ready) return;
    setBusy(true);
    const answer = await send({ reason: reason.trim(), ...(confirming ? { confirm: true as const } : {}) });
    setBusy(false);
    if (!answer.ok) {
      setTrouble(troubleOf(answer));
      return;
    }
    say(answer.value.message);
    onDone();
    onClose();
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <p>{says}</p>
        {children}
        {asksWhy ? <Reason value={reason} onChange={setReason} /> : null}
        {confirming ? (
          <Confirmation why={trouble.detail} word={word} typed={typed} onType={setTyped} />
        ) : (
          <TroubleBox trouble={trouble} />
        )}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={danger || confirming ? "danger" : "primary"} disabled={!ready}>
            {busy ? "…" : verb}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

interface ReasonProps {
  readonly value: string;
  readonly onChange: (reason: string) => void;
}

export const Reason = ({ value, onChange }: ReasonProps) => (
  <label class="field">
    Reason <span class="quiet">for the audit and the history</span>
    <input
      name="reason"
      required
      minLength={REASON_MIN}
      maxLength={1_000}
      autoComplete="off"
      value={value}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  </label>
);

interface ConfirmationProps {
  readonly why: string;
  readonly word: string;
  readonly typed: string;
  readonly onType: (typed: string) => void;
}

export const Confirmation = ({ why, word, typed, onType }: ConfirmationProps) => (
  <div class="note warn" role="alert">
    <p>
      <strong>Are you sure?</strong> {why}.
    </p>
    <label class="field">
      <span>
        Type <code>{word}</code> to confirm
      </span>
      <input
        name="confirmation"
        autoComplete="off"
        value={typed}
        onInput={({ currentTarget }) => onType(currentTarget.value)}
      />
    </label>
  </div>
);
