/**
 * When the trees of this process's tests began, by their roots. The log of a shared server has what hundreds of other
 * tests did before: whoever checks one tree need not read that.
 */
const beginnings = new Map<string, bigint>();

export const rememberBeginning = (root: string, zxid: bigint): void => void beginnings.set(root, zxid);

/** 0 = from the first transaction on. */
export const beginningOf = (root: string | undefined): bigint => beginnings.get(root ?? "/") ?? 0n;
