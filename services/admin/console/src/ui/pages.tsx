/** Lists that come in pages: the cursor stands in the address, so that a page can be shared and gone back from. */
import { Link, type Place } from "../router.tsx";

interface PagerProps {
  readonly place: Place;
  readonly next: string | null | undefined;
}

export function Pager({ place, next }: PagerProps) {
  const to = (cursor: string | null): string => {
    const query = new URLSearchParams(place.query);
    if (cursor === null) query.delete("cursor");
    else query.set("cursor", cursor);
    return query.size === 0 ? place.path : `${place.path}?${query.toString()}`;
  };
  const first = !place.query.has("cursor");
  if (first && (next ?? null) === null) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {first ? null : <Link to={to(null)}>« First page</Link>}
      {next == null ? null : <Link to={to(next)}>Next page »</Link>}
    </nav>
  );
}
