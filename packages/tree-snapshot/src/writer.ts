import { type Op, type Session } from "@sluice/zookeeper";

const OPS_MAX = 100;
const BYTES_MAX = 128 * 1024;

/** Multis of bounded size, one after the other. A lost answer ends it: begun again, it is the same. */
export class Writer {
  readonly #session: Session;
  #ops: Op[] = [];
  #bytes = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Null, or what went wrong. A node that is larger than the bound goes alone. */
  async add(op: Op, bytes: number): Promise<string | null> {
    const size = bytes + Buffer.byteLength(op.path);
    const isFull = this.#ops.length >= OPS_MAX || this.#bytes + size > BYTES_MAX;
    const trouble = isFull ? await this.flush() : null;
    this.#ops.push(op);
    this.#bytes += size;
    return trouble;
  }

  async flush(): Promise<string | null> {
    if (this.#ops.length === 0) return null;
    const answer = await this.#session.multi(this.#ops);
    this.#ops = [];
    this.#bytes = 0;
    return answer.ok ? null : `${answer.code} ${answer.detail}`;
  }
}
