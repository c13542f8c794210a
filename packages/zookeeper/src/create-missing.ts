import type { EachAnswer, Fault, Op, Session } from "./port.ts";

/** The two answers of a race with whoever makes the same nodes, and the one that says nothing: look again. */
const LOOK_AGAIN: ReadonlySet<Fault["code"]> = new Set(["NODE_EXISTS", "UNKNOWN", "NOT_SENT"]);
const TRIES_MAX = 10;
const NODES_AT_ONCE = 200;

type Create = Extract<Op, { readonly op: "create" }>;

/**
 * Makes those nodes that are not there, in their order; null when all stand. It looks before it writes: the server logs and
 * syncs a refused create like any other transaction, and what a service needs is there at nearly every start.
 */
export async function createMissing(session: Session, nodes: readonly Create[]): Promise<Fault | null> {
  for (let i = 0; i < nodes.length; i += NODES_AT_ONCE) {
    const fault = await createPart(session, nodes.slice(i, i + NODES_AT_ONCE));
    if (fault !== null) return fault;
  }
  return null;
}

async function createPart(session: Session, nodes: readonly Create[]): Promise<Fault | null> {
  let fault: Fault | null = null;
  for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
    const there = await session.readEach(nodes.map(({ path }) => ({ get: path })));
    if (!there.ok) return there;
    const missing = nodes.filter((_, n) => !stands(there.value[n]));
    if (missing.length === 0) return null;
    const made = await session.multi(missing);
    if (made.ok) return null;
    fault = made;
    if (!LOOK_AGAIN.has(made.code) || !(await session.untilConnected())) return fault;
  }
  return fault;
}

/** One that may not be read is there too. */
const stands = (answer: EachAnswer | undefined): boolean =>
  answer?.kind === "node" || (answer?.kind === "error" && answer.code === "NO_AUTH");
