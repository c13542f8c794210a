import type { Egress, IoFault } from "@sluice/safe-io";
import type { CallbackAddress } from "./callback-address.ts";

export interface CallbackRequest extends CallbackAddress {
  /** The same for every attempt to tell the same news, so that a receiver can know a repetition. */
  readonly idempotencyKey: string;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** What became of one attempt to call back. */
export type Delivery =
  | { readonly kind: "accepted" }
  /** It may go through later: the receiver is away, overloaded or broken for now. */
  | { readonly kind: "later"; readonly why: string; readonly delayMs?: number }
  /** The receiver understood and said no, or may not be called at all: the same again will not help. */
  | { readonly kind: "refused"; readonly why: string };

export type DeliveryHook = (kind: Delivery["kind"]) => void;

export async function deliver(egress: Pick<Egress, "post">, request: CallbackRequest): Promise<Delivery> {
  const answer = await egress.post(request.url, {
    contentType: "application/json",
    body: request.body,
    headers: { "Idempotency-Key": request.idempotencyKey },
    signal: request.signal,
    ...(request.basicAuth === null ? {} : { basicAuth: request.basicAuth }),
  });
  if (!answer.ok) return judge(answer.error);
  answer.value.discard();
  return { kind: "accepted" };
}

/** A receiver that asks for a day is not given one: operators want to see the job move or fail. */
const DELAY_MAX_MS = 60 * 60 * 1000;

function judge(fault: IoFault): Delivery {
  if (isFinal(fault)) return { kind: "refused", why: fault.message };
  return fault.retryAfterMs === undefined
    ? { kind: "later", why: fault.message }
    : { kind: "later", why: fault.message, delayMs: Math.min(fault.retryAfterMs, DELAY_MAX_MS) };
}

/** Only a clear no is final. An expired certificate or a proxy's nonsense is mended by others, in time. */
function isFinal(fault: IoFault): boolean {
  switch (fault.code) {
    case "EGRESS_REFUSED":
    case "TOO_MANY_REDIRECTS":
      return true;
    case "HTTP_STATUS":
      return !fault.retryable && (fault.status ?? 0) < 500;
    default:
      return false;
  }
}
