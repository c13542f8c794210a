import type { MailView } from "@sluice/wire";
import type { Trouble } from "../api.ts";
import { bytes } from "../format.ts";
import { Nothing, Time, TroubleBox, Waiting } from "./bits.tsx";

interface MailsProps {
  readonly mails: readonly MailView[] | null;
  readonly trouble: Trouble | null;
}

export function Mails({ mails, trouble }: MailsProps) {
  if (trouble !== null) return <TroubleBox trouble={trouble} />;
  if (mails === null) return <Waiting />;
  if (mails.length === 0) return <Nothing>No mail has been sent.</Nothing>;
  return (
    <ul class="mails">
      {mails.map(({ id, subject, to, at, text, attachments }) => (
        <li key={id}>
          <details>
            <summary>
              <strong>{subject}</strong>
              <span class="quiet">
                {" "}
                to {to.join(", ")} · <Time at={at} />
              </span>
            </summary>
            <pre tabIndex={0}>{text}</pre>
            {attachments.length === 0 ? null : (
              <p class="quiet">
                Attached: {attachments.map((file) => `${file.name} (${bytes(file.bytes)})`).join(", ")}
              </p>
            )}
          </details>
        </li>
      ))}
    </ul>
  );
}
