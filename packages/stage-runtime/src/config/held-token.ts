/**
 * A token that a service shows to another one. It may stand in a file, and the file may be replaced: whoever rotates a token
 * restarts nobody.
 */
import { readFileSync, statSync } from "node:fs";

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
