/**
 * MINT_URL=https://…/shoulder/ark:/NAAN/SHOULDER: ARKs of an EZID service. Names are chosen here and created there, not
 * minted there: a name is in the job before EZID hears of it, so that a request whose answer was lost can be repeated.
 */
import type { Profile } from "@sluice/ingest-formats";
import { askEzid, type EzidAnswer, type EzidClientParts } from "./ezid-client.ts";
import { JOB_ELEMENT, publicationOf, registrationOf } from "./ezid-elements.ts";
import type { MintAnswer, Minter, MintRequest } from "./minter.ts";
import { proposeArk, type Shoulder, shoulderOf } from "./propose.ts";

export interface EzidParts extends EzidClientParts {
  readonly url: EzidUrl;
  /** Where ARKs lead: `TARGET/m/ARK`; undefined leaves that to EZID. */
  readonly target: string | undefined;
}

export interface EzidUrl {
  readonly kind: "ezid";
  /** What stands before `/shoulder/` and `/id/`. */
  readonly base: string;
  readonly shoulder: Shoulder;
}

const TRIES = 3;
const PAUSE_MS = 15_000;

export function ezidMinter(parts: EzidParts): Minter {
  return {
    propose: (profile, wish) => {
      const elsewhere = foreignMinter(parts, profile);
      if (elsewhere !== null) return { ok: false, message: elsewhere };
      return proposeArk(shoulderOf(profile) ?? parts.url.shoulder, wish);
    },
    register: (request) => register(parts, request),
    publish: (request) => publish(parts, request),
  };
}

/** Our password goes to the service that the configuration names, and nowhere else. */
function foreignMinter({ url }: EzidParts, { objectMinterUrl }: Profile): string | null {
  if (objectMinterUrl === undefined || objectMinterUrl.startsWith(`${url.base}/`)) return null;
  return `the profile's ObjectMinterURL is not of ${url.base}`;
}

const addressOf = ({ url }: EzidParts, { ark }: MintRequest): string => `${url.base}/id/${encodeURI(ark)}`;

async function register(parts: EzidParts, request: MintRequest): Promise<MintAnswer> {
  const url = addressOf(parts, request);
  let answer: EzidAnswer = { kind: "away", message: "" };
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (tries > 0) await parts.wait(PAUSE_MS, request.signal);
    answer = await askEzid(parts, "PUT", url, registrationOf(request), request.signal);
    if (answer.kind === "success" || answer.kind === "away") return judge(answer, request);
    if (answer.message.includes("already exists")) return whose(parts, request);
  }
  return judge(answer, request);
}

/** An earlier try of this job, whose answer was lost, or another's name. */
async function whose(parts: EzidParts, request: MintRequest): Promise<MintAnswer> {
  const answer = await askEzid(parts, "GET", addressOf(parts, request), [], request.signal);
  if (answer.kind !== "success") return judge(answer, request);
  if (answer.elements.get(JOB_ELEMENT) === request.job) return { kind: "ok" };
  return { kind: "taken", message: `${request.ark} is another's` };
}

async function publish(parts: EzidParts, request: MintRequest): Promise<MintAnswer> {
  if (!isOurs(parts, request)) return { kind: "ok" };
  const url = addressOf(parts, request);
  const elements = publicationOf(request, parts.target);
  const updated = await askEzid(parts, "POST", url, elements, request.signal);
  if (updated.kind !== "error") return judge(updated, request);
  await parts.wait(PAUSE_MS, request.signal);
  return judge(await askEzid(parts, "PUT", `${url}?update_if_exists=yes`, elements, request.signal), request);
}

const isOurs = ({ url }: EzidParts, { profile, ark }: MintRequest): boolean => {
  const { naan, shoulder } = shoulderOf(profile) ?? url.shoulder;
  return ark.startsWith(`ark:/${naan}/${shoulder}`);
};

/** A success must be about the very name that was asked for. */
function judge(answer: EzidAnswer, { ark }: MintRequest): MintAnswer {
  if (answer.kind === "away") return { kind: "unavailable", message: answer.message };
  if (answer.kind === "error") {
    const passing = answer.status >= 500 || answer.status === 429;
    return { kind: passing ? "unavailable" : "refused", message: answer.message };
  }
  const named = answer.elements.get("success")?.split("|")[0]?.trim();
  return named === ark ? { kind: "ok" } : { kind: "refused", message: `EZID speaks of ${named} instead of ${ark}` };
}
