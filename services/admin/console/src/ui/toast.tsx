/** A short word about what has just been done. */
import { useEffect, useState } from "preact/hooks";

const SAID = "sluice-said";
const SHOWN_MS = 6_000;

export const say = (text: string): void => void dispatchEvent(new CustomEvent(SAID, { detail: text }));

export function Toast() {
  const [text, setText] = useState("");
  useEffect(() => {
    let timer: number | undefined;
    const said = (event: Event): void => {
      setText(event instanceof CustomEvent ? String(event.detail) : "");
      clearTimeout(timer);
      timer = window.setTimeout(() => setText(""), SHOWN_MS);
    };
    addEventListener(SAID, said);
    return () => removeEventListener(SAID, said);
  }, []);
  return (
    <div class="toast" role="status" aria-live="polite">
      {text === "" ? null : <p>{text}</p>}
    </div>
  );
}
