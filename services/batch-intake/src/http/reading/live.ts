/**
 * Keeps listeners up to date. However many there are, one look per interval at the signs of everything that is listened
 * to tells what has changed, and only that is read. No watches: a process has few of them, and its work needs them.
 */
import type { Problem } from "@sluice/http-api";
import type { Signs } from "@sluice/queue-core";

/** A batch or a job as it is shown. Whose it is decides who may see it. */
export interface Shown {
  readonly profile: string;
}

/** Something to listen to. */
export interface Subject {
  /** The same for all who listen to the same thing. */
  readonly key: string;
  look(): Promise<Look>;
}

export type Look =
  | {
      readonly kind: "seen";
      readonly view: Shown;
      /** Nothing more is to be expected. */
      readonly ended: boolean;
      /** Where in the tree to see that it changes; nowhere, if it is not there. */
      readonly signs: readonly string[];
      /** Of a state without signs. */
      readonly id?: string;
    }
  | { readonly kind: "problem"; readonly problem: Problem };

export interface News {
  readonly view: Shown;
  readonly ended: boolean;
  /** Of this state: as long as nothing changes it stays the same, in every process. */
  readonly id: string;
  readonly signs: readonly string[];
}

export type NewsListener = (news: News) => void;

export interface Live {
  /** The present state. */
  look(subject: Subject): Promise<{ readonly kind: "news"; readonly news: News } | Extract<Look, { kind: "problem" }>>;
  /** Tells every state that follows the one that is known, until the signal aborts. */
  listen(subject: Subject, known: News, listener: NewsListener, until: AbortSignal): void;
}

export interface LiveParts {
  readonly readSigns: (things: readonly (readonly string[])[]) => Promise<readonly Signs[] | null>;
  readonly everyMs: number;
}

const THINGS_PER_READ = 100;

interface Watched {
  readonly subject: Subject;
  readonly listeners: Set<NewsListener>;
  /** Of the signs when `news` was read; "" = not known. */
  print: string;
  news: News;
}

export function makeLive({ readSigns, everyMs }: LiveParts): Live {
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | null = null;

  async function look(subject: Subject): ReturnType<Live["look"]> {
    const first = await subject.look();
    if (first.kind === "problem") return first;
    if (first.signs.length === 0) return { kind: "news", news: newsOf(first, undefined) };
    // Signs before the view that is told: what changes in between shows in the next signs.
    const found = await readSigns([first.signs]);
    const seen = await subject.look();
    return seen.kind === "problem" ? seen : { kind: "news", news: newsOf(seen, found?.[0]) };
  }

  async function turn(): Promise<void> {
    const all = [...watched.values()];
    await Promise.all(all.filter(isOutside).map(lookOutside));
    const things = all.filter((thing) => !isOutside(thing));
    for (let i = 0; i < things.length; i += THINGS_PER_READ) {
      const some = things.slice(i, i + THINGS_PER_READ);
      const found = await readSigns(some.map(({ news }) => news.signs));
      // No answer: listeners keep what they have, and hear more when there is more.
      if (found === null) return;
      await Promise.all(some.map((thing, k) => lookAgain(thing, found[k])));
    }
  }

  async function lookAgain(thing: Watched, found: Signs | undefined): Promise<void> {
    if (found === undefined || found.print === thing.print) return;
    const seen = await thing.subject.look();
    const news = seen.kind === "seen" ? newsOf(seen, found) : lastNews(thing.news, seen.problem);
    if (news !== null) tell(thing, news, news.signs.join() === thing.news.signs.join() ? found.print : "");
  }

  /** What is not in the tree is looked at itself: it may be on its way there. */
  async function lookOutside(thing: Watched): Promise<void> {
    const seen = await look(thing.subject);
    const news = seen.kind === "news" ? seen.news : lastNews(thing.news, seen.problem);
    if (news !== null) tell(thing, news, "");
  }

  function tell(thing: Watched, news: News, print: string): void {
    const before = thing.news;
    thing.print = print;
    thing.news = news;
    // A view may be newer than its id, never older: it is told again under the id that it deserves.
    const isSame = news.id === before.id && news.ended === before.ended;
    if (isSame && JSON.stringify(news.view) === JSON.stringify(before.view)) return;
    for (const listener of thing.listeners) listener(news);
  }

  function keepTurning(): void {
    timer ??= setTimeout(() => {
      // What could not be looked at is looked at in the next turn.
      turn()
        .catch(() => undefined)
        .finally(() => {
          timer = null;
          if (watched.size > 0) keepTurning();
        });
    }, everyMs).unref();
  }

  return {
    async look(subject) {
      const known = watched.get(subject.key);
      return known === undefined ? look(subject) : { kind: "news", news: known.news };
    },
    listen(subject, known, listener, until) {
      if (until.aborted) return;
      const thing = watched.get(subject.key) ?? { subject, listeners: new Set(), print: "", news: known };
      watched.set(subject.key, thing);
      thing.listeners.add(listener);
      until.addEventListener("abort", () => {
        thing.listeners.delete(listener);
        if (thing.listeners.size === 0 && watched.get(subject.key) === thing) watched.delete(subject.key);
      });
      if (thing.news.id !== known.id) listener(thing.news);
      keepTurning();
    },
  };
}

const isOutside = ({ news }: Watched): boolean => news.signs.length === 0;

const newsOf = ({ view, ended, signs, id }: Extract<Look, { kind: "seen" }>, found: Signs | undefined): News => ({
  view,
  ended,
  signs,
  id: id ?? String(found?.zxid ?? 0n),
});

/** What is nowhere any more has ended; anything else may pass. */
const lastNews = (news: News, { code }: Problem): News | null =>
  code === "NOT_FOUND" ? { ...news, ended: true } : null;
