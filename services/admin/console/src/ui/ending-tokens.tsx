/** Tokens that end soon, for those who can make others: each with its end, and what to do. */
import { ADMIN, type EndingTokenView } from "@sluice/wire";
import { useAnswer } from "../load.ts";
import { Link } from "../router.tsx";
import { useSession } from "../session.tsx";
import { Time } from "./bits.tsx";

const EVERY_MS = 60_000;
/** More than these are a list, and the list is on another page. */
const SHOWN_MAX = 5;

export function EndingTokens({ all = false }: { readonly all?: boolean }) {
  const { can } = useSession();
  const { value } = useAnswer(ADMIN.endingTokens, {}, { everyMs: EVERY_MS, when: can(ADMIN.endingTokens) });
  const items = value?.items ?? [];
  if (items.length === 0) return null;
  const shown = all ? items : items.slice(0, SHOWN_MAX);
  return (
    <ul class="remarks" aria-label="Tokens that end soon">
      {shown.map((token) => (
        <li key={token.id} class={token.expired ? "bad" : "warn"}>
          <Ending token={token} />
        </li>
      ))}
      {shown.length === items.length ? null : (
        <li class="warn">
          {items.length - shown.length} more tokens end soon. <Link to="/tokens">Tokens</Link>
        </li>
      )}
    </ul>
  );
}

const Ending = ({ token: { name, role, expires, expired, place } }: { readonly token: EndingTokenView }) => (
  <>
    The {role} token of <strong>{name}</strong> {expired ? "ended" : "ends"} <Time at={expires} /> (
    {expires.slice(0, 10)}).{" "}
    {place === "tree" ? (
      <>
        Make a new one, give it to its holder, then revoke this one. <Link to="/tokens">Tokens</Link>
      </>
    ) : (
      "Put a new one into the token file (AUTH_TOKENS_FILE), give it to its holder, then remove this one there."
    )}
  </>
);
