/**
 * Which types' jobs are for whoever runs handlers. All others belong to workers of their own, who would never see a job that a
 * runner without a handler for it takes first.
 */
import type { Later } from "@sluice/job-doors";
import { type Handlers, splitVersion } from "@sluice/job-handlers";

const AGAIN_MS = 2_000;

export class HandledTypes {
  readonly #open: () => Promise<Handlers | null>;
  readonly #later: Later;
  readonly #onChange: () => void;
  readonly #expected = new Map<string, { readonly tenant: string; readonly type: string }>();
  #watched: Handlers | null = null;
  #types: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  #stopTimer: (() => void) | null = null;
  #isOver = false;

  /** `onChange`: jobs that nobody could take may have a handler now. */
  constructor(open: () => Promise<Handlers | null>, later: Later, onChange: () => void) {
    this.#open = open;
    this.#later = later;
    this.#onChange = onChange;
    this.#lookAside();
  }

  has(tenant: string, name: string): boolean {
    const { type } = splitVersion(name);
    return this.#types.get(tenant)?.has(type) === true || this.#expected.has(keyOf(tenant, type));
  }

  /** Jobs were added for a handler. Known here at once, to the others when the tree has it. */
  expect(tenant: string, name: string): void {
    const { type } = splitVersion(name);
    if (this.has(tenant, type)) return;
    this.#expected.set(keyOf(tenant, type), { tenant, type });
    this.#lookAside();
  }

  stop(): void {
    this.#isOver = true;
    this.#stopTimer?.();
  }

  /** What fails is tried again: until then, what was known before counts. */
  #lookAside(): void {
    this.#look().catch(() => this.#restAgain());
  }

  /** Again and again: a session may end at any time, and with it what it watched. */
  async #look(): Promise<void> {
    this.#stopTimer?.();
    const handlers = await this.#open();
    if (handlers !== null) await this.#settle(handlers);
    this.#restAgain();
  }

  #restAgain(): void {
    if (this.#isOver) return;
    this.#stopTimer?.();
    this.#stopTimer = this.#later(AGAIN_MS, () => this.#lookAside());
  }

  async #settle(handlers: Handlers): Promise<void> {
    for (const [key, { tenant, type }] of [...this.#expected])
      if (await handlers.expect(tenant, type)) this.#expected.delete(key);
    if (this.#watched === handlers) return;
    handlers.watch(() => void this.#read(handlers).catch(() => this.#restAgain()));
    await this.#read(handlers);
    this.#watched = handlers;
  }

  async #read(handlers: Handlers): Promise<void> {
    const types = await handlers.types();
    if (types === "silence") return;
    this.#types = types;
    this.#onChange();
  }
}

const keyOf = (tenant: string, type: string): string => `${tenant}/${type}`;
