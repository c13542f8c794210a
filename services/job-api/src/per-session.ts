/** Something that belongs to a session: made once in each, and forgotten with it. */
import type { Session } from "@sluice/zookeeper";
import type { SessionSource } from "./admitted-sessions.ts";

/** Null: there is no session, or it could not be made in it. */
export function perSession<T>(
  sessions: Pick<SessionSource, "current">,
  make: (session: Session) => Promise<T | null>,
): () => Promise<T | null> {
  let made: { readonly session: Session; readonly value: Promise<T | null> } | null = null;
  return async () => {
    const session = sessions.current();
    if (session?.state !== "connected") return null;
    if (made?.session !== session) made = { session, value: make(session) };
    const value = await made.value;
    if (value === null && made.session === session) made = null;
    return value;
  };
}
