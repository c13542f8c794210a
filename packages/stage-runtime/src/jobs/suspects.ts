/**
 * A worker that dies takes down every job it has in hand: one of them may be the cause, the others are its neighbours.
 * A job whose workers died twice is a suspect, and suspects are worked one at a time: the poison job goes on to be
 * quarantined alone, and its neighbours are done before they share its fate.
 */
import { diedInHand, type ReadyCandidate } from "@sluice/queue-core";

const DEATHS_OF_A_SUSPECT = 2;

export const isSuspect = ({ fleetJob }: ReadyCandidate): boolean =>
  diedInHand(fleetJob) && fleetJob.attempts >= DEATHS_OF_A_SUSPECT;
