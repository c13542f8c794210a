import { blockOf, firstIdOf, lastIdOf, nextBlock } from "../ids.ts";
import type { Change } from "./changes.ts";

/** Ids, a block at a time, and the directories that blocks are: one that is used up and empty is dropped. */
export class Blocks {
  readonly #note: (change: Change) => void;
  readonly #jobs = new Map<number, number>();
  /** The block that ids are taken from. A new owner takes a new one: it cannot know which ids were used and deleted. */
  #open: number | null = null;
  #next: number;
  #nextId = 0;

  constructor(next: number, there: Iterable<number>, note: (change: Change) => void) {
    this.#next = next;
    this.#note = note;
    for (const block of there) this.#jobs.set(block, 0);
  }

  newId(): number {
    if (this.#open === null || this.#nextId > lastIdOf(this.#open)) this.#take();
    const id = this.#nextId;
    this.#nextId += 1;
    return id;
  }

  /** A block for somebody else. */
  reserve(): number {
    const block = this.#next;
    this.#next = nextBlock(block);
    this.#note({ kind: "reserve-block", block });
    return block;
  }

  /** Before its first job is written. */
  makeFor(id: number): void {
    const block = blockOf(id);
    if (this.#jobs.has(block)) return;
    this.#jobs.set(block, 0);
    this.#note({ kind: "make-block", block });
  }

  add(id: number): void {
    const block = blockOf(id);
    this.#jobs.set(block, (this.#jobs.get(block) ?? 0) + 1);
  }

  remove(id: number): void {
    const block = blockOf(id);
    const left = (this.#jobs.get(block) ?? 1) - 1;
    this.#jobs.set(block, left);
    if (left === 0 && block !== this.#open) this.#drop(block);
  }

  dropEmpty(): void {
    for (const [block, jobs] of this.#jobs) if (jobs === 0) this.#drop(block);
  }

  #take(): void {
    const old = this.#open;
    const block = this.#next;
    this.#open = block;
    this.#next = nextBlock(block);
    this.#nextId = firstIdOf(block);
    this.#jobs.set(block, 0);
    this.#note({ kind: "take-block", block });
    if (old !== null && this.#jobs.get(old) === 0) this.#drop(old);
  }

  #drop(block: number): void {
    this.#jobs.delete(block);
    this.#note({ kind: "drop-block", block });
  }
}
