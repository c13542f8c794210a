import { inScope, type Scope } from "@sluice/access";
import { ANSWERED, type EventStreams, type Handled } from "@sluice/http-api";
import type { Request, Response } from "express";
import type { Live, News, Subject } from "./live.ts";
import { NOWHERE } from "./lookup.ts";

/**
 * The present state at once, unless the listener saw it before a break; then each that follows; `end` after the last. One
 * that comes back after the end is told by 204 to stay away.
 */
export async function streamNews(
  { live, streams }: { readonly live: Live; readonly streams: EventStreams },
  { scope, event, subject }: { readonly scope: Scope; readonly event: string; readonly subject: Subject },
  request: Request,
  response: Response,
): Promise<Handled> {
  const first = await live.look(subject);
  if (first.kind === "problem") return first;
  // Listeners of all scopes share one subject: each is asked for here.
  if (!inScope(scope, first.news.view.profile)) return { problem: NOWHERE };
  const lastSeen = request.get("Last-Event-ID");
  if (first.news.ended && first.news.id === lastSeen) return { status: 204 };
  const stream = streams.open(request, response);
  if (stream === null) return ANSWERED;
  const tell = ({ id, view, ended }: News): void => {
    if (id !== lastSeen) stream.send({ event, id, data: view }, event);
    if (!ended) return;
    stream.send({ event: "end", id, data: {} });
    stream.end();
  };
  tell(first.news);
  if (!first.news.ended) live.listen(subject, first.news, tell, stream.closed);
  return ANSWERED;
}
