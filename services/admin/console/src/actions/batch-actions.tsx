/** What can be done about one batch now. */
import { ADMIN, type BatchDetail, type BatchRequest } from "@sluice/wire";
import { useState } from "preact/hooks";
import { call } from "../api.ts";
import { useSession } from "../session.tsx";
import { ActionDialog } from "./action-dialog.tsx";
import { batchWords, harmlessFirst, saysOf } from "./words.ts";

export function BatchActions({ batch, onDone }: { readonly batch: BatchDetail; readonly onDone: () => void }) {
  const { can, model } = useSession();
  const [asked, setAsked] = useState<string | null>(null);
  if (!can(ADMIN.batchAction) || batch.archived) return null;
  return (
    <>
      {harmlessFirst(batch.actions, batchWords).map((action) => (
        <button
          key={action}
          type="button"
          class={batchWords(action).danger === true ? "danger quietly" : ""}
          onClick={() => setAsked(action)}
        >
          {batchWords(action).label}
        </button>
      ))}
      {asked === null ? null : (
        <ActionDialog
          title={`${batchWords(asked).label} ${batch.bid}`}
          says={saysOf(model.batch_actions, asked)}
          verb={batchWords(asked).label}
          word={batch.bid}
          danger={batchWords(asked).danger === true}
          onDone={onDone}
          onClose={() => setAsked(null)}
          send={(sent) =>
            call(ADMIN.batchAction, {
              params: { id: batch.bid },
              // From the server's own tables.
              body: { action: asked as BatchRequest["action"], ...sent },
            })
          }
        />
      )}
    </>
  );
}
