/** What Merritt's storage service says of an object. */
import { type ObjectInfo, parseObjectInfo } from "@sluice/ingest-formats";
import type { Egress, IoFault } from "@sluice/safe-io";
import type { ObjectAddress, StoreResult } from "../object-store.ts";

export interface MerrittStoreParts {
  /** Without a slash at the end. */
  readonly base: string;
  readonly egress: Egress;
  /** Where the storage service finds a file of the working folder. */
  readonly urlOf: (path: string) => string;
}

export const ANSWER_MAX = 200_000_000;

export const addressOf = (
  { base }: Pick<MerrittStoreParts, "base">,
  call: string,
  { node, ark }: ObjectAddress,
): string => `${base}/${call}/${node ?? ""}/${encodeURIComponent(ark)}`;

type Unavailable = Extract<StoreResult, { kind: "unavailable" }>;
export type Versions = ObjectInfo["versions"];
type LookUp = { readonly ok: true; readonly info: Versions } | { readonly ok: false; readonly result: Unavailable };

export async function lookUp(parts: MerrittStoreParts, request: ObjectAddress, signal: AbortSignal): Promise<LookUp> {
  const url = addressOf(parts, "manifest", request);
  const answer = await parts.egress.get(url, { signal, maxBytes: ANSWER_MAX });
  if (!answer.ok && answer.error.status === 404) return { ok: true, info: new Map() };
  if (!answer.ok) return { ok: false, result: away(answer.error) };
  const text = await answer.value.text();
  if (!text.ok) return { ok: false, result: away(text.error) };
  const info = parseObjectInfo(text.value);
  if (info.ok && info.value.ark === request.ark) return { ok: true, info: info.value.versions };
  return {
    ok: false,
    result: { kind: "unavailable", message: `${parts.base} gives no readable account of ${request.ark}` },
  };
}

export const away = ({ message }: IoFault): Unavailable => ({ kind: "unavailable", message });
