import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The browser's own: it keeps the focus inside, gives it back, and closes with Esc. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  useEffect(() => {
    const dialog = element.current;
    if (dialog?.open === false) dialog.showModal();
    return () => {
      isGone.current = true;
      dialog?.close();
    };
  }, []);
  // The browser tells of a close later. By then another dialog may be open, which must not be closed in its place.
  const onClosed = () => {
    if (!isGone.current) onClose();
  };
  return (
    <dialog ref={element} onClose={onClosed} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="icon" onClick={onClose} aria-label="Close">
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}
