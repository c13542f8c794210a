/** The address is the state: which page, which filters. */
import type { AnchorHTMLAttributes, ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

const here = (): Place => ({ path: location.pathname, query: new URLSearchParams(location.search) });
const MOVED = "sluice-moved";

export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  dispatchEvent(new Event(MOVED));
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const moved = (): void => setPlace(here());
    addEventListener("popstate", moved);
    addEventListener(MOVED, moved);
    return () => {
      removeEventListener("popstate", moved);
      removeEventListener(MOVED, moved);
    };
  }, []);
  return place;
}

/** `/jobs/{id}` against a path: its parameters, or null. */
export function matched(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const found = new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, "([^/]+)")}/?$`).exec(path);
  return found === null
    ? null
    : Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(found[i + 1] ?? "")]));
}

/** The same page with other filters; empty ones vanish, and a cursor belongs to the filters it was made for. */
export function withQuery(place: Place, changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams(place.query);
  query.delete("cursor");
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  return query.size === 0 ? place.path : `${place.path}?${query.toString()}`;
}

/** Plain clicks stay in the page; all others (new tab, new window) are the browser's. */
export function follow(event: MouseEvent, to: string): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(to);
}

interface LinkProps extends Omit<AnchorHTMLAttributes, "href"> {
  readonly to: string;
  readonly children: ComponentChildren;
}

export const Link = ({ to, children, ...rest }: LinkProps) => (
  <a href={to} onClick={(event) => follow(event, to)} {...rest}>
    {children}
  </a>
);
