/** What the inventory and the locks can carry; Merritt's tables say 255. */
const LENGTH_MAX = 255;
const COUNT_MAX = 100;

/** Why these local ids cannot be used; null if they can. They come from files, where nobody has looked at them yet. */
export function unusableLocalId(localIds: readonly string[]): string | null {
  if (localIds.length > COUNT_MAX) return `${localIds.length} local ids are too many: at most ${COUNT_MAX} are taken`;
  const tooLong = localIds.find((id) => id.length > LENGTH_MAX);
  if (tooLong !== undefined) return `the local id ${tooLong.slice(0, 40)}… has more than ${LENGTH_MAX} characters`;
  const strange = localIds.find((id) => /[\p{Cc}\p{Cs}]/u.test(id));
  return strange === undefined ? null : `the local id ${JSON.stringify(strange)} contains control characters`;
}
