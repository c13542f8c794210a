/** What is listened to: however many do, each thing is looked at once per interval, and told only when it has changed. */
import { ANSWERED, type EventStreams, type Problem } from "@sluice/http-api";
import type { Request, Response } from "express";
import { createHash } from "node:crypto";

export type TopicLook = { readonly value: unknown; readonly ended: boolean } | { readonly problem: Problem };

export interface Topic {
  /** The same for all who may see the same. */
  readonly key: string;
  /** Name of its events. */
  readonly event: string;
  look(): Promise<TopicLook>;
}

export interface Topics {
  /** The present state at once, then each that differs, `end` after the last. */
  stream(topic: Topic, request: Request, response: Response): Promise<typeof ANSWERED | { readonly problem: Problem }>;
}

interface News {
  readonly id: string;
  readonly value: unknown;
  readonly ended: boolean;
}

interface Watched {
  readonly topic: Topic;
  readonly listeners: Set<(news: News) => void>;
  last: News;
}

/** Then a listener comes back, and shows again who it is: its token may have been revoked meanwhile. */
const STREAM_MS = 600_000;

export interface TopicsOptions {
  readonly streams: EventStreams;
  readonly everyMs: number;
}

const newsOf = (look: Extract<TopicLook, { value: unknown }>): News => ({
  ...look,
  id: createHash("sha256").update(JSON.stringify(look.value)).digest("base64url").slice(0, 16),
});

export function makeTopics({ streams, everyMs }: TopicsOptions): Topics {
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | null = null;

  async function lookAgain(thing: Watched): Promise<void> {
    const look = await thing.topic.look();
    // What is gone has ended; what cannot be seen just now is looked at again.
    if ("problem" in look) {
      if (look.problem.code === "NOT_FOUND") tell(thing, { ...thing.last, ended: true });
      return;
    }
    const news = newsOf(look);
    if (news.id !== thing.last.id || news.ended) tell(thing, news);
  }

  function tell(thing: Watched, news: News): void {
    thing.last = news;
    for (const listener of thing.listeners) listener(news);
  }

  function keepLooking(): void {
    timer ??= setTimeout(() => {
      // What could not be looked at is looked at in the next turn.
      Promise.allSettled([...watched.values()].map(lookAgain))
        .finally(() => {
          timer = null;
          if (watched.size > 0) keepLooking();
        })
        .catch(() => undefined);
    }, everyMs).unref();
  }

  function listen(topic: Topic, first: News, listener: (news: News) => void, until: AbortSignal): void {
    const thing = watched.get(topic.key) ?? { topic, listeners: new Set(), last: first };
    watched.set(topic.key, thing);
    thing.listeners.add(listener);
    until.addEventListener("abort", () => {
      thing.listeners.delete(listener);
      if (thing.listeners.size === 0 && watched.get(topic.key) === thing) watched.delete(topic.key);
    });
    keepLooking();
  }

  return {
    async stream(topic, request, response) {
      const look = await topic.look();
      if ("problem" in look) return look;
      const first = newsOf(look);
      const stream = streams.open(request, response);
      if (stream === null) return ANSWERED;
      let told = request.get("Last-Event-ID") ?? "";
      const hear = ({ id, value, ended }: News): void => {
        if (id !== told) stream.send({ event: topic.event, id, data: value }, topic.event);
        told = id;
        if (!ended) return;
        stream.send({ event: "end", data: null });
        stream.end();
      };
      hear(first);
      const tooLong = setTimeout(() => stream.end(), STREAM_MS).unref();
      stream.closed.addEventListener("abort", () => clearTimeout(tooLong), { once: true });
      if (!first.ended) listen(topic, first, hear, stream.closed);
      return ANSWERED;
    },
  };
}
