import { MAX_REQUEST_BYTES } from "./limits.ts";
import type { Read } from "./port.ts";

/** Type, path length, watch flag and the like, generously. */
const BYTES_BESIDES_PATH = 32;

export const pathOf = (read: Read): string => ("get" in read ? read.get : read.children);

/** One request for nearly everyone; several for one who reads more than a request may hold. In the order asked. */
export function inRequests(reads: readonly Read[], rootLength: number): readonly (readonly Read[])[] {
  const requests: Read[][] = [];
  let room = 0;
  for (const read of reads) {
    const bytes = Buffer.byteLength(pathOf(read)) + rootLength + BYTES_BESIDES_PATH;
    if (room < bytes) {
      requests.push([]);
      room = MAX_REQUEST_BYTES - BYTES_BESIDES_PATH;
    }
    requests.at(-1)?.push(read);
    room -= bytes;
  }
  return requests;
}
