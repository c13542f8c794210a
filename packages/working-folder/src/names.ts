/** Ids become folder names: what is not of the right shape is a mistake in the program, never an answer to a depositor. */
const BATCH_ID = /^bid\d{10}$/;
const JOB_ID = /^jid\d{10}$/;
const CLAIM_FOLDER = /^\.claim-(\d{1,10})$/;

export function batchName(bid: string): string {
  if (!BATCH_ID.test(bid)) throw new RangeError(`no batch id: ${JSON.stringify(bid)}`);
  return bid;
}

export function jobName(jid: string): string {
  if (!JOB_ID.test(jid)) throw new RangeError(`no job id: ${JSON.stringify(jid)}`);
  return jid;
}

export function claimName(token: number): string {
  if (!Number.isInteger(token) || token < 0 || token > 2_147_483_647) throw new RangeError(`no token: ${token}`);
  return `.claim-${token}`;
}

/** The token in the name of a claim's folder; null for any other name. */
export function tokenOfName(name: string): number | null {
  const digits = CLAIM_FOLDER.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}
