import type { Silence } from "./port.ts";
import type { Link, LinkReply } from "./link.ts";
import type { ReplyHeader } from "./wire/replies.ts";
import type { EncodedRequest } from "./wire/requests.ts";

export interface PendingCall {
  readonly deadlineMs: number;
  readonly sent: () => boolean;
  readonly withdraw: () => void;
  readonly silence: (code: Silence, detail: string) => void;
}

export type CallOutcome = { readonly reply: ReplyHeader } | { readonly silence: Silence; readonly detail: string };

/** The calls of a session that have no answer yet, oldest first. Each gets exactly one outcome, and none waits for ever. */
export class PendingCalls {
  readonly #pending = new Set<PendingCall>();
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  start(request: EncodedRequest, deadlineMs: number, settle: (outcome: CallOutcome) => void): void {
    const finish = (outcome: CallOutcome): void => {
      // Deleting is the test: whoever comes second (a reply after its deadline, say) finds nothing to settle.
      if (this.#pending.delete(call)) settle(outcome);
    };
    const onReply = (reply: LinkReply): void =>
      finish(reply === "cut" ? { silence: "UNKNOWN", detail: "connection lost before the answer" } : { reply });
    const call: PendingCall = {
      deadlineMs,
      sent: () => linkCall.sent,
      withdraw: () => linkCall.withdraw(),
      silence: (silence, detail) => finish({ silence, detail }),
    };
    this.#pending.add(call);
    const linkCall = this.#link.send(request, onReply);
  }

  /**
   * What was never sent is taken back, so that it cannot run after its caller gave up. What was sent and not answered
   * means that the connection is no good: dropping it cuts everything that was sent.
   */
  expire(nowMs: number): void {
    for (const call of this.#pending) {
      if (nowMs < call.deadlineMs) return;
      if (call.sent()) {
        this.#link.drop("no answer within the deadline of a call");
      } else {
        call.withdraw();
        call.silence("NOT_SENT", "not connected within the deadline");
      }
    }
  }

  abandon(code: Silence, detail: string): void {
    for (const call of this.#pending) call.silence(code, detail);
  }
}
