/**
 * A token that a service shows to another one. It may stand in a file, and the file may be replaced: whoever rotates a token
 * restarts nobody.
 */
import { readFileSync, statSync } from "node:fs";
import { checkedText } from "./fields.ts";
import type { Relation } from "./relations.ts";

/** `NAME_FILE`: must hold a token when the service starts. */
export const tokenFile = () =>
  checkedText((path) => {
    try {
      return readToken(path) === "" ? "names an empty file" : null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }).optional();

/** A token is given in one way: which one would be shown otherwise? */
export const givenOnce = (name: string): Relation => ({
  path: name,
  needs: [name, `${name}_FILE`],
  // Looked at only when both are there.
  holds: () => false,
  message: `set together with ${name}_FILE`,
});

/** For a client's options. */
export interface HeldToken {
  readonly token?: string | (() => string);
}

export function heldToken(value: string | undefined, file: string | undefined): HeldToken {
  if (file !== undefined) return { token: tokenIn(file) };
  return value === undefined ? {} : { token: value.trim() };
}

/** Asked for at every call: a look at the file's dates, and a read when they have changed. */
function tokenIn(path: string): () => string {
  let version = "";
  let token = "";
  return () => {
    try {
      const { ino, mtimeNs, size } = statSync(path, { bigint: true });
      const now = `${ino}.${mtimeNs}.${size}`;
      if (now === version) return token;
      const read = readToken(path);
      // While it is being written it may be empty.
      if (read === "") return token;
      token = read;
      version = now;
    } catch {
      // A file that is just being replaced: what it held last is the best that is known.
    }
    return token;
  };
}

const readToken = (path: string): string => readFileSync(path, "utf8").trim();
