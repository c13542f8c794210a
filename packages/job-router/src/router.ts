/** Every request to the process that owns its shard. All processes are alike: each serves whatever it is asked. */
import {
  type Answer,
  type Command,
  FairScheduler,
  type GetJobs,
  giveBack,
  type Layout,
  SHARDS,
  type ShardOwner,
  shardOfTenant,
  type TenantUsage,
  type WaitingType,
} from "@sluice/job-queue";
import { Changes } from "./changes.ts";
import { answerOf, type Outcome } from "./outcome.ts";
import { CUT_OFF, NOT_THE_OWNER, Peers } from "./peer/peers.ts";
import { PeerServer } from "./peer/server.ts";
import type { Address, RouterPorts, SessionSource } from "./ports.ts";
import { type Attempt, attemptOf, PATIENCE_MS, Routing } from "./routing.ts";
import { Archiver } from "./seats/archiver.ts";
import { Ensemble } from "./seats/ensemble.ts";
import { Seat } from "./seats/seat.ts";
import { Board } from "./take/board.ts";
import { Publisher } from "./take/publisher.ts";
import { type HeardUsage, type Take, type TakenJob, Taker, type Waiting, type Wanted } from "./take/take.ts";
import type { JobRouter, ReadyType, RouterStats, ShardView } from "./types.ts";

const FIRST = "";

/** Throws when the peers' port cannot be opened. Sessions may come later. */
export async function openJobRouter(ports: RouterPorts): Promise<JobRouter> {
  const router = new Router(ports);
  await router.open();
  return router;
}

class Router implements JobRouter {
  readonly #ports: RouterPorts;
  readonly #server: PeerServer;
  readonly #peers: Peers;
  readonly #routing: Routing;
  readonly #board = new Board();
  readonly #publisher: Publisher;
  readonly #taker: Taker;
  readonly #archiver: Archiver;
  /** Something may be due, anywhere. */
  readonly #due: Changes;
  readonly #known: Changes;
  #ensembles: readonly Ensemble[] = [];
  #seats: readonly Seat[] = [];
  #address: Address;
  #layout: Layout | null = null;
  #stopped: Promise<void> | null = null;

  constructor(ports: RouterPorts) {
    const { apiId, clock, later, log, hooks, peers } = ports;
    this.#ports = ports;
    this.#address = peers.listen;
    this.#due = new Changes(later);
    this.#known = new Changes(later);
    this.#server = new PeerServer({
      ...peers,
      apiId,
      later,
      log,
      desk: {
        ask: (shard, term, command) => this.#here(shard, term, (owner) => owner.ask(command)),
        wait: (shard, term, command, ms, gone) => this.#here(shard, term, (owner) => owner.wait(command, ms, gone)),
        handOver: (shard, term, peerId) => this.#handOver(shard, term, peerId),
      },
      // Jobs that cannot be given back come back when their leases lapse.
      giveBack: (tenant, reply) => void giveBack(this, tenant, reply).catch(() => undefined),
      onPeer: (send) => this.#publisher.greet(send),
    });
    this.#peers = new Peers({
      apiId,
      later,
      log,
      clock,
      secret: peers.secret,
      isOver: (shard, term) => this.#isOver(shard, term),
      depose: (shard, seen) => this.#seats[shard]?.depose(seen),
      onTypes: (peerId, { shard, term, types, usage = [] }) => {
        const of = new Map(usage.map((each) => [each.tenant, each]));
        this.#board.tell(shard, { peerId, term, types, usage: of, atMs: clock.monotonicMs() });
        this.#due.tell();
      },
      onUp: () => this.#review(),
      onDown: (peerId) => this.#board.forget(peerId),
    });
    const onServed = (): void => this.#publisher.note();
    this.#routing = new Routing({
      clock,
      later,
      forwarder: this.#peers,
      queue: this,
      onServed,
      ...(hooks && { hooks }),
    });
    this.#publisher = new Publisher({
      clock,
      later,
      owners: () => this.#owners(),
      hasPeers: () => this.#server.hasPeers,
      tell: (frame) => this.#server.tell(frame),
    });
    const { tenantWeights = new Map(), typeWeights = new Map() } = ports;
    this.#taker = new Taker(
      {
        clock,
        queue: this,
        board: this.#board,
        due: this.#due,
        waiting: (wanted) => this.#waiting(wanted),
        usageOf: (shard, tenant) => this.#usageOf(shard, tenant),
        ask: async (shard, command) => answerOf(await this.routeShard(shard, command, 0)),
      },
      new FairScheduler({ tenantWeights, typeWeights }),
      typeWeights.size > 0,
    );
    this.#archiver = new Archiver(ports, () => this.#owners());
  }

  async open(): Promise<void> {
    const { peers, session, others, log } = this.#ports;
    const bound = await this.#server.open();
    this.#address = { ...bound, ...peers.advertise };
    const sources = new Map<string, SessionSource>([[FIRST, session], ...(others?.sessions ?? [])]);
    const unknown = Object.values(others?.shards ?? {}).filter((name) => !sources.has(name));
    if (unknown.length > 0) throw new Error(`no ensemble is called ${unknown.join(", ")}`);
    const ensembles = new Map([...sources].map(([name, source]) => [name, this.#ensemble(name, source)]));
    this.#ensembles = [...ensembles.values()];
    this.#seats = Array.from({ length: SHARDS }, (_, shard) => {
      const ensemble = ensembles.get(others?.shards[String(shard)] ?? FIRST);
      if (ensemble === undefined) throw new Error(`shard ${shard} has no ensemble`);
      return this.#seat(shard, ensemble);
    });
    for (const ensemble of this.#ensembles) ensemble.open();
    this.#archiver.start();
    log.info({ ...this.#address }, "peers are heard");
  }

  async ask(tenant: string, command: Command): Promise<Answer> {
    return answerOf(await this.route(tenant, command));
  }

  async wait(tenant: string, command: GetJobs, timeoutMs: number, gone: AbortSignal): Promise<Answer> {
    const seat = await this.#seatOf(tenant, Math.min(timeoutMs, PATIENCE_MS));
    if (seat === null) return answerOf(NO_LAYOUT);
    return answerOf(await this.#routing.wait(seat, command, timeoutMs, gone));
  }

  async route(tenant: string, command: Command, patienceMs = PATIENCE_MS): Promise<Outcome> {
    const seat = await this.#seatOf(tenant, patienceMs);
    return seat === null ? NO_LAYOUT : this.#routing.ask(seat, command, patienceMs);
  }

  async askShard(shard: number, command: Command): Promise<Answer> {
    return answerOf(await this.routeShard(shard, command));
  }

  async routeShard(shard: number, command: Command, patienceMs = PATIENCE_MS): Promise<Outcome> {
    const seat = this.#seats[shard];
    if (seat === undefined) throw new Error(`no shard ${shard}`);
    return this.#routing.ask(seat, command, patienceMs);
  }

  async everyShard(command: Command): Promise<ReadonlyMap<number, Answer>> {
    const asked = this.#seats.map(async ({ shard }) => [shard, await this.askShard(shard, command)] as const);
    return new Map(await Promise.all(asked));
  }

  take(asked: Take): Promise<readonly TakenJob[]> {
    return this.#taker.take(asked);
  }

  lookAgain(): void {
    this.#due.tell();
  }

  usage(): readonly TenantUsage[] {
    return [...this.#owners()].flatMap(([, owner]) => owner.usage);
  }

  shardOf(tenant: string): number | null {
    return this.#layout === null ? null : shardOfTenant(tenant, this.#layout.tenants);
  }

  isServed(shard: number): boolean {
    const seat = this.#seats[shard];
    return (
      seat !== undefined &&
      (seat.serving !== null || (seat.elsewhere !== null && this.#peers.isUp(seat.elsewhere.apiId)))
    );
  }

  shards(): readonly ShardView[] {
    return this.#seats.map(({ shard, ensemble, state, owner, elsewhere }) => ({
      shard,
      ensemble: ensemble.name,
      state,
      owner: owner === null ? (elsewhere?.apiId ?? null) : this.#ports.apiId,
      term: owner?.term.term ?? elsewhere?.term ?? null,
      jobs: owner?.size ?? null,
    }));
  }

  stats(): RouterStats {
    return {
      shardsOwned: this.#seats.filter(({ owner }) => owner !== null).length,
      waiters: this.#routing.waiters + this.#taker.waiters,
      quarantined: this.#seats.reduce((sum, { owner }) => sum + (owner?.quarantined.length ?? 0), 0),
      endedInTree: this.#seats.reduce((sum, { owner }) => sum + (owner?.ended.runs ?? 0), 0),
    };
  }

  ready(): readonly ReadyType[] {
    return [...this.#owners()].flatMap(([, owner]) =>
      owner.waitingTypes.map(({ tenant, name, count, since }) => ({
        tenant,
        name,
        count,
        oldestDue: owner.oldestDue(tenant, name) ?? since,
      })),
    );
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#leave();
    return this.#stopped;
  }

  /** First nobody counts on us, then we give up what we have, then nobody hears us. */
  async #leave(): Promise<void> {
    this.#archiver.stop();
    this.#routing.isStopped = true;
    this.#taker.isStopped = true;
    this.#due.tell();
    await Promise.all(this.#ensembles.map((ensemble) => ensemble.withdraw()));
    await Promise.all(this.#seats.map((seat) => seat.stop()));
    this.#publisher.stop();
    this.#peers.close();
    await this.#server.close();
  }

  #handOver(shard: number, term: number, apiId: string): void {
    // To whom we cannot reach we would soon take it from again.
    if (this.#peers.isUp(apiId)) this.#seats[shard]?.handOver(term, apiId);
  }

  /** It must mean the term that we serve: otherwise its question is not for us. */
  async #here(shard: number, term: number, ask: (owner: ShardOwner) => Promise<Answer>): Promise<Attempt> {
    const seat = this.#seats[shard];
    if (seat?.owner?.term.term !== term || seat.isLeaving) return { kind: "not-done", why: NOT_THE_OWNER };
    if (seat.serving === null) return { kind: "not-done", why: CUT_OFF };
    try {
      return attemptOf(await ask(seat.serving));
    } catch (error) {
      // A mistake of ours must not end the process that everybody asks.
      this.#ports.log.error({ shard, err: error }, "a peer's request failed");
      return { kind: "unknown" };
    } finally {
      this.#publisher.note();
    }
  }

  #ensemble(name: string, source: SessionSource): Ensemble {
    const { apiId, later, log, tenants = {}, others } = this.#ports;
    return new Ensemble({
      name,
      source,
      apiId,
      later,
      log,
      tenants,
      shards: others?.shards,
      address: () => this.#address,
      accept: (layout) => this.#accept(layout),
      onChange: () => this.#review(),
    });
  }

  #seat(shard: number, ensemble: Ensemble): Seat {
    const { redo, ...ports } = this.#ports;
    return new Seat(shard, {
      ...ports,
      // Another ensemble has transactions, and a snapshot, of its own.
      ...(redo && ensemble.name === FIRST && { redo }),
      ensemble,
      onDue: () => this.#onDue(),
      onChange: () => this.#review(),
      askFor: (wanted, seen) => this.#peers.askFor(wanted, seen),
    });
  }

  /** What every ensemble must agree on: where the jobs of a tenant stand. */
  #accept(layout: Layout): string | null {
    const told = this.#ports.others?.shards ?? {};
    if (!sameEntries(layout.ensembles ?? {}, told))
      return "its layout puts shards into other ensembles than we were told";
    if (this.#layout !== null && !sameEntries(layout.tenants, this.#layout.tenants))
      return "its layout puts tenants into other shards than another ensemble's";
    this.#layout = layout;
    this.#known.tell();
    return null;
  }

  #review(): void {
    if (this.#stopped !== null) return;
    const members = new Map(this.#ensembles.flatMap(({ sight }) => [...sight.members]));
    this.#peers.review(members);
    for (const seat of this.#seats) seat.review();
    this.#onDue();
  }

  #onDue(): void {
    this.#publisher.noteDue();
    this.#due.tell();
  }

  #isOver(shard: number, term: number): boolean {
    const ensemble = this.#seats[shard]?.ensemble;
    return ensemble?.session != null && ensemble.sight.terms.get(shard)?.term !== term;
  }

  async #seatOf(tenant: string, patienceMs: number): Promise<Seat | null> {
    if (this.#layout === null) await this.#known.next(patienceMs);
    const shard = this.shardOf(tenant);
    return shard === null ? null : (this.#seats[shard] ?? null);
  }

  *#owners(): Iterable<readonly [number, ShardOwner]> {
    for (const { shard, serving } of this.#seats) if (serving !== null) yield [shard, serving];
  }

  #usageOf(shard: number, tenant: string): HeardUsage | null {
    const serving = this.#seats[shard]?.serving ?? null;
    if (serving !== null) return { term: `${shard}.${serving.term.term}`, usage: serving.usageOf(tenant) };
    const told = this.#board.usageOf(shard, tenant, this.#ports.clock.monotonicMs());
    return told === null ? null : { ...told, term: `${shard}.${told.term}` };
  }

  /** What is looked at does not grow with what waits: of each tenant only those whose turn it is. */
  #waiting({ most, agedBefore, isWanted }: Wanted): readonly Waiting[] {
    return this.#seats.flatMap(({ shard, serving, elsewhere }) => {
      const asked = { most, agedBefore, isWanted: (type: WaitingType) => isWanted(shard, type) };
      const told = elsewhere === null ? [] : this.#board.turns(shard, elsewhere, asked);
      return (serving?.turns(asked) ?? told).map((type) => ({ shard, type }));
    });
  }
}

const NO_LAYOUT: Outcome = { kind: "unavailable", why: "no layout was read yet" };

function sameEntries(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
