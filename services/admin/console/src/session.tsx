/** Who is here, and the tables that everything is drawn from. */
import type { Endpoint, Me, Model } from "@sluice/wire";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

export interface SessionValue {
  readonly me: Me;
  readonly model: Model;
}

export const Session = createContext<SessionValue | null>(null);

export function useSession(): SessionValue & { readonly can: (endpoint: Endpoint) => boolean } {
  const session = useContext(Session);
  if (session === null) throw new Error("nobody has signed in");
  return { ...session, can: ({ permission }) => session.me.permissions.includes(permission) };
}

export const useModel = (): Model => useSession().model;

/** The state from which this can be done; the tables say which it is. */
export const stateThatAllows = (model: Model, action: string): string =>
  model.job_states.find(({ actions }) => actions.includes(action))?.state ?? "";
