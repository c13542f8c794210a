/** Keys for those who live in the console. Never in a field, and everything can be reached with Tab as well. */
import { useEffect, useState } from "preact/hooks";
import { go } from "./router.tsx";
import { Dialog } from "./ui/dialog.tsx";

const GOES: Readonly<Record<string, readonly [string, string]>> = {
  h: ["/", "home"],
  b: ["/batches", "batches"],
  j: ["/jobs", "jobs"],
  c: ["/collections", "collections"],
  w: ["/workers", "workers and stages"],
  o: ["/operations", "operations"],
  q: ["/queues", "queues"],
  s: ["/schedules", "schedules"],
  a: ["/audit", "audit"],
  m: ["/maintenance", "maintenance"],
};

const SECOND_KEY_MS = 1_500;

const writes = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("input, select, textarea, dialog") !== null;

export function Keys() {
  const [help, setHelp] = useState(false);
  useEffect(() => {
    let afterG = 0;
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || writes(event.target)) return;
      const place = GOES[event.key];
      if (event.timeStamp < afterG && place !== undefined) {
        afterG = 0;
        go(place[0]);
      } else if (event.key === "g") afterG = event.timeStamp + SECOND_KEY_MS;
      else if (event.key === "?") setHelp(true);
      else if (event.key === "/") {
        const search = document.querySelector<HTMLInputElement>("input[type=search]");
        if (search === null) return;
        event.preventDefault();
        search.focus();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  if (!help) return null;
  return (
    <Dialog title="Keys" onClose={() => setHelp(false)}>
      <dl class="facts keys">
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>search</dd>
        </div>
        {Object.entries(GOES).map(([key, [, name]]) => (
          <div key={key}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{name}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>these keys</dd>
        </div>
        <div>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>close a dialog</dd>
        </div>
      </dl>
    </Dialog>
  );
}
