import { ADMIN, type TokenRequest, type TokenView } from "@sluice/wire";
import { useState } from "preact/hooks";
import { ActionDialog } from "../actions/action-dialog.tsx";
import { call } from "../api.ts";
import { useAnswer } from "../load.ts";
import { EndingTokens } from "../ui/ending-tokens.tsx";
import { Badge, Head, Id, Time, TroubleBox } from "../ui/bits.tsx";
import { Table } from "../ui/table.tsx";

type Role = TokenRequest["role"];
/** In the order of what they may. */
const ROLES: readonly Role[] = ["depositor", "viewer", "operator", "admin"];

export function Tokens() {
  const { value, trouble, reload } = useAnswer(ADMIN.tokens, {});
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<TokenView | null>(null);
  const [made, setMade] = useState<string | null>(null);
  return (
    <>
      <Head title="Tokens">
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          Make a token
        </button>
      </Head>
      {made === null ? null : (
        <div class="note good" role="alert">
          <p>
            <strong>Copy it now:</strong> it is shown this once and kept nowhere.
          </p>
          <Id>{made}</Id>
        </div>
      )}
      <EndingTokens all />
      <TroubleBox trouble={trouble} />
      <Table
        caption="Tokens"
        rows={value?.items ?? null}
        keyOf={({ id }) => id}
        empty="There is no token in the tree; those of the configured file are not listed."
        columns={[
          { name: "Name", cell: ({ name }) => <strong>{name}</strong>, by: ({ name }) => name },
          { name: "Id", cell: ({ id }) => <code>{id}</code> },
          { name: "Role", cell: ({ role }) => role, by: ({ role }) => role },
          { name: "Collections", cell: ({ collections }) => collections.join(", ") },
          { name: "Made by", cell: ({ created_by }) => created_by, by: ({ created_by }) => created_by },
          {
            name: "Expires",
            cell: ({ expires, expired }) => (expired ? <Badge tone="bad">expired</Badge> : <Time at={expires} />),
            by: ({ expires }) => expires,
          },
          {
            name: "Actions",
            cell: (token) => (
              <button
                type="button"
                class="danger quietly"
                aria-label={`Revoke ${token.name}`}
                onClick={() => setRevoking(token)}
              >
                Revoke
              </button>
            ),
          },
        ]}
      />
      {making ? <MakeToken onMade={setMade} onDone={reload} onClose={() => setMaking(false)} /> : null}
      {revoking === null ? null : (
        <ActionDialog
          title={`Revoke ${revoking.name}`}
          says="Whoever uses it is refused from now on."
          verb="Revoke"
          word={revoking.id}
          danger
          onDone={reload}
          onClose={() => setRevoking(null)}
          send={({ reason }) => call(ADMIN.revokeToken, { params: { id: revoking.id }, query: { reason } })}
        />
      )}
    </>
  );
}

interface MakeTokenProps {
  readonly onMade: (token: string) => void;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function MakeToken({ onMade, onDone, onClose }: MakeTokenProps) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("depositor");
  const [collections, setCollections] = useState("");
  const [days, setDays] = useState(90);
  return (
    <ActionDialog
      title="Make a token"
      says="For a person or a program. Its secret is shown once."
      verb="Make it"
      word={name}
      onDone={onDone}
      onClose={onClose}
      send={async ({ reason }) => {
        const wanted = collections.split(/[\s,]+/).filter((each) => each !== "");
        const body = { name, role, collections: wanted, expires_in_days: days, reason };
        const answer = await call(ADMIN.makeToken, { body });
        if (!answer.ok) return answer;
        onMade(answer.value.token);
        return { ...answer, value: { message: `token for ${answer.value.name} made` } };
      }}
    >
      <label class="field">
        Name
        <input name="name" required value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
      </label>
      <label class="field">
        Role
        <select
          name="role"
          value={role}
          onChange={({ currentTarget }) => setRole(ROLES.find((each) => each === currentTarget.value) ?? "depositor")}
        >
          {ROLES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label class="field">
        Collections <span class="quiet">with commas between them; * for all</span>
        <input
          name="collections"
          required
          value={collections}
          onInput={({ currentTarget }) => setCollections(currentTarget.value)}
        />
      </label>
      <label class="field">
        Days
        <input
          name="days"
          type="number"
          min={1}
          max={3650}
          value={days}
          onInput={({ currentTarget }) => setDays(currentTarget.valueAsNumber)}
        />
      </label>
    </ActionDialog>
  );
}
