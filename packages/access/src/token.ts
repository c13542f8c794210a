/**
 * Bearer tokens: `slc_ID_SECRET`. The id finds the record, the secret proves the right to it; only its hash is kept. The
 * secret has 256 bits of chance, so a plain SHA-256 of it cannot be guessed back: no slow hash is needed.
 */
import { createHash, timingSafeEqual } from "node:crypto";

const FORM = /^slc_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/;

export interface PresentedToken {
  readonly id: string;
  readonly secret: string;
}

export interface MintedToken {
  readonly id: string;
  /** Shown once, to whoever asked for it; kept nowhere. */
  readonly token: string;
  readonly hash: string;
}

const ID_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789";

export function mintToken(randomBytes: (size: number) => Buffer): MintedToken {
  const id = [...randomBytes(12)].map((byte) => ID_ALPHABET.charAt(byte % ID_ALPHABET.length)).join("");
  const secret = randomBytes(32).toString("base64url");
  return { id, token: `slc_${id}_${secret}`, hash: hashSecret(secret) };
}

export function parseToken(raw: string): PresentedToken | null {
  const [, id, secret] = FORM.exec(raw) ?? [];
  return id === undefined || secret === undefined ? null : { id, secret };
}

export const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex");

export function secretMatches(secret: string, hash: string): boolean {
  const [ours, theirs] = [Buffer.from(hashSecret(secret)), Buffer.from(hash)];
  return ours.length === theirs.length && timingSafeEqual(ours, theirs);
}

/** Whether a text has a token in it: nothing that does belongs in a log. */
export const redactTokens = (text: string): string =>
  text.replaceAll(/slc_([a-z0-9]{12})_[A-Za-z0-9_-]{43}/g, "slc_$1_…");
