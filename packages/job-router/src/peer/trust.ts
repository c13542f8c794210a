/**
 * Both sides prove that they know the secret without saying it: each answers the other's fresh number. The names of both
 * are part of the proof, so that it fits no other pair and no other direction.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";

const VERSION = 1;
const nonce = z.string().regex(/^[0-9a-f]{32}$/);
const name = z.string().min(1).max(200);
const proof = z.string().max(64);

/** The server's first line. */
export const GreetingSchema = z.object({ v: z.literal(VERSION), api: name, nonce });
export type Greeting = z.infer<typeof GreetingSchema>;

/** The client's: `instance` is new with each line of numbers that it begins. */
export const IntroductionSchema = z.object({ v: z.literal(VERSION), api: name, instance: nonce, nonce, proof });
export type Introduction = z.infer<typeof IntroductionSchema>;

/** The server's second. */
export const WelcomeSchema = z.union([
  /** `known`: what was done for this line of numbers is remembered. Peers of before do not say. */
  z.object({ welcome: z.literal(true), proof, known: z.boolean().optional() }),
  z.object({ welcome: z.literal(false) }),
]);

export const newNonce = (): string => randomBytes(16).toString("hex");

export const greeting = (api: string): Greeting => ({ v: VERSION, api, nonce: newNonce() });

type Side = "client" | "server";
type Unproved = Omit<Introduction, "proof">;

export function introduction(secret: string | null, met: Greeting, api: string, instance: string): Introduction {
  const unproved: Unproved = { v: VERSION, api, instance, nonce: newNonce() };
  return { ...unproved, proof: proofOf(secret, "client", met, unproved) };
}

/** "" where nobody has to prove anything. */
export function proofOf(secret: string | null, side: Side, server: Greeting, client: Unproved): string {
  if (secret === null) return "";
  const parts = [VERSION, side, server.api, server.nonce, client.api, client.instance, client.nonce];
  return createHmac("sha256", secret).update(JSON.stringify(parts)).digest("hex");
}

export function isProved(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
