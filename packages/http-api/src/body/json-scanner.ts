/**
 * Looks at JSON while it comes, before anything is made of it: how much is in it, how deep it is nested, and what one member
 * of the outermost object says. Reads each byte once; whether it is JSON at all is for the parser to say.
 */
export interface JsonLimits {
  /** Values and members, all together: each costs far more memory than the bytes that it comes in. */
  readonly maxValues: number;
  readonly maxDepth: number;
}

export type JsonExcess = "values" | "depth";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const SMALLEST_STRUCTURAL = QUOTE;

/** A text of the outermost object that is longer is neither our key nor a name. */
const TEXT_MAX_BYTES = 4_096;

export class JsonScanner {
  readonly #limits: JsonLimits;
  readonly #member: string | null;
  #values = 1;
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** Of the outermost object: the bytes of the text under way, the key that was read last, whether a value is next. */
  #text: number[] | null = null;
  #key: string | null = null;
  #isValueNext = false;
  #found: string | null = null;

  /** `member`: whose text is wanted. */
  constructor(limits: JsonLimits, member: string | null = null) {
    this.#limits = limits;
    this.#member = member;
  }

  /** The member's text; null: it has not come, or is no text. */
  get found(): string | null {
    return this.#found;
  }

  /** Answers what is too much, as soon as it is. */
  scan(chunk: Uint8Array): JsonExcess | null {
    for (const byte of chunk) {
      if (this.#inText) this.#inside(byte);
      else if (byte >= SMALLEST_STRUCTURAL) {
        const excess = this.#outside(byte);
        if (excess !== null) return excess;
      }
    }
    return null;
  }

  #inside(byte: number): void {
    if (!this.#escaped && byte === QUOTE) {
      this.#inText = false;
      this.#endText();
      return;
    }
    this.#escaped = !this.#escaped && byte === BACKSLASH;
    if (this.#text === null) return;
    this.#text.push(byte);
    if (this.#text.length > TEXT_MAX_BYTES) this.#text = null;
  }

  #endText(): void {
    if (this.#text === null) return;
    const text = decoded(this.#text);
    this.#text = null;
    if (!this.#isValueNext) this.#key = text;
    else if (this.#key === this.#member) this.#found = text;
  }

  #outside(byte: number): JsonExcess | null {
    if (byte === QUOTE) {
      this.#inText = true;
      this.#text = this.#member !== null && this.#depth === 1 ? [] : null;
    } else if (byte === COMMA) {
      if (this.#depth === 1) [this.#isValueNext, this.#key] = [false, null];
      return this.#count();
    } else if (byte === COLON) {
      if (this.#depth === 1) this.#isValueNext = true;
    } else if (OPENING.has(byte)) {
      this.#depth += 1;
      return this.#depth > this.#limits.maxDepth ? "depth" : this.#count();
    } else if (CLOSING.has(byte)) this.#depth -= 1;
    return null;
  }

  #count(): JsonExcess | null {
    this.#values += 1;
    return this.#values > this.#limits.maxValues ? "values" : null;
  }
}

function decoded(bytes: readonly number[]): string | null {
  try {
    return String(JSON.parse(`"${Buffer.from(bytes).toString("utf8")}"`));
  } catch {
    return null;
  }
}
