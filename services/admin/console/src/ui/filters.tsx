/** Filters that stand in the address: what one sees can be shared, kept and gone back to. */
import { useEffect, useRef } from "preact/hooks";
import { go, type Place, withQuery } from "../router.tsx";

interface SearchProps {
  readonly place: Place;
  readonly label: string;
  readonly hint: string;
}

const TYPING_MS = 300;

export function Search({ place, label, hint }: SearchProps) {
  const timer = useRef<number>();
  const field = useRef<HTMLInputElement>(null);
  const shown = place.query.get("q") ?? "";
  // Also when the address changes by itself: going back must show the old word.
  useEffect(() => {
    if (field.current !== null && document.activeElement !== field.current) field.current.value = shown;
  }, [shown]);
  const search = (q: string): void => go(withQuery(place, { q: q.trim() }), { replace: true });
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        clearTimeout(timer.current);
        search(field.current?.value ?? "");
      }}
    >
      <input
        ref={field}
        type="search"
        aria-label={label}
        placeholder={hint}
        defaultValue={shown}
        onInput={({ currentTarget }) => {
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => search(currentTarget.value), TYPING_MS);
        }}
      />
    </form>
  );
}

interface ChoiceProps {
  readonly place: Place;
  readonly name: string;
  readonly label: string;
  readonly all: string;
  readonly options: readonly string[];
  /** Where an option does not say by itself what it is. */
  readonly words?: Readonly<Record<string, string>>;
}

export function Choice({ place, name, label, all, options, words = {} }: ChoiceProps) {
  const value = place.query.get(name) ?? "";
  const shown = value === "" || options.includes(value) ? options : [value, ...options];
  return (
    <label class="choice">
      <span class="spoken">{label}</span>
      <select
        name={name}
        value={value}
        onChange={({ currentTarget }) => go(withQuery(place, { [name]: currentTarget.value }))}
      >
        <option value="">{all}</option>
        {shown.map((option) => (
          <option key={option} value={option}>
            {words[option] ?? option}
          </option>
        ))}
      </select>
    </label>
  );
}
