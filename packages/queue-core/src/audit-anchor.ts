/**
 * Old records of the audit are in the archive and not in the tree. An anchor says where the tree's part begins. It is
 * signed: a hash chain has no secret, so whoever can write to tree and archive could otherwise compute another past.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { AuditAnchor } from "./records.ts";

/** What is signed. How far the removal has come is not: the archive decides that. */
export type AnchorStatement = Pick<AuditAnchor, "fleet" | "number" | "hash" | "at">;
export type SignedAnchor = Pick<AuditAnchor, keyof AnchorStatement | "key" | "signature">;

export interface AnchorSigner {
  /** The first half of the SHA-256 of the public key. */
  readonly key: string;
  sign(statement: AnchorStatement): SignedAnchor;
}

/** unknown-key: none of the given keys signed it; a rotated key is missing, or somebody else signed. */
export type AnchorVerdict = "good" | "bad" | "unknown-key";

export interface AnchorVerifier {
  readonly keys: readonly string[];
  verify(anchor: SignedAnchor): AnchorVerdict;
}

type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

const KEY_ID_LENGTH = 32;
const ALGORITHM = "ed25519";
const PEM = /-----BEGIN (?:PUBLIC|PRIVATE) KEY-----[^-]+-----END (?:PUBLIC|PRIVATE) KEY-----/g;
const NO_KEY =
  "must be an Ed25519 key in PEM: openssl genpkey -algorithm ed25519, and openssl pkey -pubout for its public part";

/** From a private key in PEM (PKCS#8). */
export function readAnchorSigner(pem: string): Read<AnchorSigner> {
  const privateKey = parsed(() => createPrivateKey(pem));
  if (privateKey?.asymmetricKeyType !== ALGORITHM) return { ok: false, problem: NO_KEY };
  const key = keyId(createPublicKey(privateKey));
  return {
    ok: true,
    value: {
      key,
      sign: (statement) => {
        const { fleet, number, hash, at } = statement;
        const signature = sign(null, signedBytes(statement), privateKey).toString("base64");
        return { fleet, number, hash, at, key, signature };
      },
    },
  };
}

/** From public keys in PEM, one behind the other: those of rotated keys too. A private key counts as its public part. */
export function readAnchorVerifier(pem: string): Read<AnchorVerifier> {
  const keys = new Map<string, KeyObject>();
  for (const block of pem.match(PEM) ?? []) {
    const publicKey = parsed(() => createPublicKey(block));
    if (publicKey?.asymmetricKeyType !== ALGORITHM) return { ok: false, problem: NO_KEY };
    keys.set(keyId(publicKey), publicKey);
  }
  if (keys.size === 0) return { ok: false, problem: NO_KEY };
  return {
    ok: true,
    value: {
      keys: [...keys.keys()],
      verify: (anchor) => {
        const known = keys.get(anchor.key);
        if (known === undefined) return "unknown-key";
        return verify(null, signedBytes(anchor), known, Buffer.from(anchor.signature, "base64")) ? "good" : "bad";
      },
    },
  };
}

const signedBytes = ({ fleet, number, hash, at }: AnchorStatement): Buffer =>
  Buffer.from(["sluice audit anchor 1", fleet, String(number), hash, at].join("\n"));

const keyId = (publicKey: KeyObject): string =>
  createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("hex")
    .slice(0, KEY_ID_LENGTH);

/** Null: it is no key. What was read never gets into a message. */
function parsed(parse: () => KeyObject): KeyObject | null {
  try {
    return parse();
  } catch {
    return null;
  }
}
