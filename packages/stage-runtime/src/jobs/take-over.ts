/** In two lists so far apart, an entry that its proper worker did not take is anybody's. */
const TAKE_OVER_MS = 1_000;
/** Workers of an idle stage see a left-over at one moment: they must not all claim it at one moment. */
const JITTER_MS = 500;

/** `chance` in [0, 1). */
export const takeOverMs = (chance: number): number => TAKE_OVER_MS + JITTER_MS * chance;
