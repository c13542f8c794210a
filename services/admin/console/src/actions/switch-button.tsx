/** Pause or hold something, and let it go on: queue, stage, collection, worker. */
import type { Answer } from "@sluice/client";
import type { HoldView, SwitchRequest } from "@sluice/wire";
import { useState } from "preact/hooks";
import { ActionDialog } from "./action-dialog.tsx";

interface SwitchButtonProps {
  /** "collection maps", "the whole queue" */
  readonly what: string;
  readonly hold: HoldView | null;
  readonly verbs: { readonly hold: string; readonly release: string };
  readonly says: { readonly hold: string; readonly release: string };
  readonly word: string;
  readonly send: (body: SwitchRequest) => Promise<Answer<{ readonly message: string }>>;
  readonly onDone: () => void;
}

export function SwitchButton({ what, hold, verbs, says, word, send, onDone }: SwitchButtonProps) {
  const [open, setOpen] = useState(false);
  const [until, setUntil] = useState("");
  const action = hold === null ? "hold" : "release";
  return (
    <>
      <button type="button" aria-label={`${verbs[action]} ${what}`} onClick={() => setOpen(true)}>
        {verbs[action]}
      </button>
      {open ? (
        <ActionDialog
          title={`${verbs[action]} ${what}`}
          says={says[action]}
          verb={verbs[action]}
          word={word}
          onDone={onDone}
          onClose={() => setOpen(false)}
          send={({ reason }) =>
            send({
              action,
              reason,
              ...(action === "hold" && until !== "" ? { until: new Date(until).toISOString() } : {}),
            })
          }
        >
          {action === "hold" ? (
            <label class="field">
              Until <span class="quiet">your local time; empty: until somebody lifts it</span>
              <input
                name="until"
                type="datetime-local"
                value={until}
                onInput={({ currentTarget }) => setUntil(currentTarget.value)}
              />
            </label>
          ) : null}
        </ActionDialog>
      ) : null}
    </>
  );
}
