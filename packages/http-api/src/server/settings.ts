/** The limits of every HTTP API: what one client may hold of a process, and how slow it may be. */
import { z } from "zod";

const whole = (min: number, max: number) => z.coerce.number("must be a whole number").int().min(min).max(max);

const MB = 1_000_000;

export const HTTP_FIELDS = {
  /** Open connections of the process; one more is answered 503. */
  CONNECTIONS_MAX: whole(1, 1_000_000).default(10_000),
  /** … and of one client address; one more is answered 429. */
  CONNECTIONS_PER_ADDRESS: whole(1, 1_000_000).default(512),
  /** How long the head of a request may take. */
  HEADERS_TIMEOUT_MS: whole(100, 600_000).default(10_000),
  /** A body that brings less than BODY_MIN_BYTES_PER_SECOND over so long a time is answered 408. */
  BODY_STALL_MS: whole(100, 3_600_000).default(120_000),
  BODY_MIN_BYTES_PER_SECOND: whole(1, 1_000 * MB).default(1_000),
  /** JSON bodies of one caller that the process holds at once. */
  BODY_BYTES_PER_CALLER: whole(1, 100_000 * MB).default(256 * MB),
} as const;

export type HttpSettings = Readonly<z.infer<z.ZodObject<typeof HTTP_FIELDS>>>;

export const HTTP_DEFAULTS: HttpSettings = z.object(HTTP_FIELDS).parse({});
