/** One ensemble: our session there, and what it shows. While it is away, its shards are; the others do not notice. */
import { type Layout, prepareQueue } from "@sluice/job-queue";
import type { Session } from "@sluice/zookeeper";
import type { Address, Later, RouterLog, SessionSource } from "../ports.ts";
import { announce, Looker, NO_SIGHT, type Sight, withdraw } from "./sight.ts";

export interface EnsemblePorts {
  readonly name: string;
  readonly source: SessionSource;
  readonly apiId: string;
  readonly address: () => Address;
  readonly later: Later;
  readonly log: RouterLog;
  readonly tenants: Layout["tenants"];
  readonly shards: Layout["ensembles"];
  /** Why this layout is none that we can work with; null: it is. */
  readonly accept: (layout: Layout) => string | null;
  readonly onChange: () => void;
}

const AGAIN_MS = 1_000;

export class Ensemble {
  readonly name: string;
  readonly #ports: EnsemblePorts;
  #stopListening: () => void = () => undefined;
  #session: Session | null = null;
  #looker: Looker | null = null;
  #sight: Sight = NO_SIGHT;
  #stopped = false;

  constructor(ports: EnsemblePorts) {
    this.name = ports.name;
    this.#ports = ports;
  }

  open(): void {
    this.#stopListening = this.#ports.source.onSession((session) => this.#beginOrAgain(session));
  }

  /** Null while nothing can be done there. */
  get session(): Session | null {
    return this.#session?.state === "connected" ? this.#session : null;
  }

  get sight(): Sight {
    return this.#sight;
  }

  look(): void {
    this.#looker?.look();
  }

  /** Nobody is to count on us any more. What we own is still ours. */
  async withdraw(): Promise<void> {
    this.#stopped = true;
    this.#stopListening();
    const { session } = this;
    if (session !== null) await withdraw(session, this.#ports.apiId);
  }

  #beginOrAgain(session: Session): void {
    this.#begin(session).catch((error: unknown) => {
      this.#ports.log.error({ ensemble: this.name, err: error }, "the job queue cannot be served here; trying again");
      if (!this.#stopped && !session.lost.aborted) this.#ports.later(AGAIN_MS, () => this.#beginOrAgain(session));
    });
  }

  async #begin(session: Session): Promise<void> {
    const problem = await this.#enter(session);
    if (this.#stopped || session.lost.aborted) return;
    if (problem !== null) {
      this.#ports.log.error({ ensemble: this.name, problem }, "the job queue cannot be served here; trying again");
      this.#ports.later(AGAIN_MS, () => this.#beginOrAgain(session));
      return;
    }
    session.lost.addEventListener("abort", () => this.#end(session), { once: true });
    session.onState(() => this.#ports.onChange());
    this.#session = session;
    this.#looker = new Looker(
      session,
      (sight) => this.#see(session, sight),
      (error) => this.#onLookerError(error),
    );
    this.#looker.look();
  }

  async #enter(session: Session): Promise<string | null> {
    const { apiId, address, tenants, shards, accept } = this.#ports;
    if (!(await session.untilConnected())) return "the session is lost";
    const prepared = await prepareQueue(session, tenants, shards);
    if (!prepared.ok) return prepared.problem;
    return accept(prepared.layout) ?? announce(session, apiId, address());
  }

  #see(session: Session, sight: Sight): void {
    if (session !== this.#session || this.#stopped) return;
    this.#sight = sight;
    this.#ports.onChange();
    // Somebody deleted our node: as long as we live we are there.
    if (!sight.members.has(this.#ports.apiId))
      this.#announceAgain(session).catch((error: unknown) => this.#onLookerError(error));
  }

  async #announceAgain(session: Session): Promise<void> {
    const { apiId, address, log } = this.#ports;
    const problem = await announce(session, apiId, address());
    if (problem !== null && !session.lost.aborted) log.warn({ ensemble: this.name, problem }, "could not be announced");
  }

  #onLookerError(error: unknown): void {
    this.#ports.log.error({ ensemble: this.name, err: error }, "what the ensemble shows could not be used");
  }

  #end(session: Session): void {
    if (session !== this.#session) return;
    this.#session = null;
    this.#looker = null;
    this.#sight = NO_SIGHT;
    this.#ports.onChange();
  }
}
