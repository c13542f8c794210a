/** Ids become folder names: what is not of the right shape is a mistake in the program, never an answer to a depositor. */
import {
  batchFolder,
  type BatchPlace,
  type ClaimName,
  FIRST_EPOCH,
  type JobPlace,
  parseBatchFolder,
  parseJobId,
} from "@sluice/queue-core";

/** Without an epoch: of a claim that was made before there were any. */
const CLAIM_FOLDER = /^\.claim-(?:([1-9]\d{0,14})-)?(\d{1,10})$/;
const TOKEN_MAX = 2_147_483_647;

export function batchName(place: BatchPlace): string {
  const name = batchFolder(place);
  if (parseBatchFolder(name) === null) throw new RangeError(`no batch: ${JSON.stringify(place)}`);
  return name;
}

export function jobPath(place: JobPlace): string {
  if (parseJobId(place.id) === null) throw new RangeError(`no job id: ${JSON.stringify(place.id)}`);
  return `${batchName(place)}/${place.id}`;
}

export function claimName(claim: ClaimName): string {
  const { epoch, token } = claim;
  const name = epoch === FIRST_EPOCH ? `.claim-${token}` : `.claim-${epoch}-${token}`;
  if (parseClaimName(name) === null) throw new RangeError(`no claim: ${JSON.stringify(claim)}`);
  return name;
}

/** Null for any other name. */
export function parseClaimName(name: string): ClaimName | null {
  const [, epoch, digits] = CLAIM_FOLDER.exec(name) ?? [];
  if (digits === undefined || Number(digits) > TOKEN_MAX) return null;
  const claim = { epoch: epoch === undefined ? FIRST_EPOCH : Number(epoch), token: Number(digits) };
  return epoch !== undefined && claim.epoch === FIRST_EPOCH ? null : claim;
}

/** Below 0: a came before b. What an earlier epoch has left is older than any claim of this one. */
export const compareClaims = (a: ClaimName, b: ClaimName): number => a.epoch - b.epoch || a.token - b.token;

export const sameClaim = (a: ClaimName, b: ClaimName): boolean => compareClaims(a, b) === 0;
