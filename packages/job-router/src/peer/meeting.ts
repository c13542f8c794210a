/** The first lines of a connection that we made: who is there, and whether both know the secret. */
import { type Greeting, GreetingSchema, introduction, isProved, proofOf, WelcomeSchema } from "./trust.ts";

export interface MeetingPorts {
  readonly apiId: string;
  /** Of this line of numbers: the other side remembers by it what it was asked. */
  readonly instance: string;
  readonly secret: string | null;
  readonly peerId: string;
}

/** refused: who we want is not there. distrust: it is, and one of us does not believe the other. */
export type MeetingFailure = "refused" | "distrust";

type Step =
  | { readonly kind: "say"; readonly line: object }
  | { readonly kind: "failed"; readonly why: MeetingFailure }
  /** `isForgotten`: what it did for us before, if anything, it no longer knows. */
  | { readonly kind: "met"; readonly isForgotten: boolean };

export class Meeting {
  readonly #ports: MeetingPorts;
  #met: { readonly server: Greeting; readonly expected: string } | null = null;

  constructor(ports: MeetingPorts) {
    this.#ports = ports;
  }

  hear(line: unknown): Step {
    const { secret, apiId, instance, peerId } = this.#ports;
    if (this.#met === null) {
      const greeting = GreetingSchema.safeParse(line);
      // Somebody else has the address now: who we want is not there.
      if (greeting.data?.api !== peerId) return { kind: "failed", why: "refused" };
      const mine = introduction(secret, greeting.data, apiId, instance);
      this.#met = { server: greeting.data, expected: proofOf(secret, "server", greeting.data, mine) };
      return { kind: "say", line: mine };
    }
    const welcome = WelcomeSchema.safeParse(line);
    const { data } = welcome;
    if (data?.welcome !== true || !isProved(data.proof, this.#met.expected)) return { kind: "failed", why: "distrust" };
    return { kind: "met", isForgotten: data.known === false };
  }
}
