/** What the depositor and their system were told of a job: when, to whom, what came of it. */
import { ADMIN, type Callback, type JobDetail, type MailSent } from "@sluice/wire";
import { many } from "../format.ts";
import { useAnswer } from "../load.ts";
import { useSession } from "../session.tsx";
import { Badge, Card, Facts, Time } from "../ui/bits.tsx";
import { Mails } from "../ui/mails.tsx";
import type { Tone } from "../ui/tones.ts";

export function Told({ job }: { readonly job: JobDetail }) {
  const { model } = useSession();
  const outbox = useAnswer(
    ADMIN.batchMails,
    { params: { id: job.bid ?? "" } },
    { everyMs: 15_000, when: model.development && job.bid !== null && !job.archived },
  );
  return (
    <Card title="Callback and mails">
      {job.callback === null ? (
        <p class="quiet">No callback was due so far, or the collection wants none.</p>
      ) : (
        <CallbackFacts callback={job.callback} />
      )}
      {job.mails.length === 0 ? (
        <p class="quiet">
          {job.archived ? "Which mails were sent is no longer known here." : "No mail about its batch was sent yet."}
        </p>
      ) : (
        job.mails.map((mail) => <MailFacts key={mail.number} mail={mail} />)
      )}
      {outbox.value === null || outbox.value.items.length === 0 ? null : (
        <details>
          <summary>In the outbox: {many(outbox.value.items.length, "mail")}</summary>
          <Mails mails={outbox.value.items} trouble={outbox.trouble} />
        </details>
      )}
    </Card>
  );
}

const CALLBACKS: Readonly<Record<Callback["outcome"], readonly [Tone, string]>> = {
  waiting: ["warn", "not delivered yet"],
  delivered: ["good", "delivered"],
  "not-delivered": ["bad", "not delivered"],
  over: ["idle", "taken, or given up: no longer known here"],
};

const CallbackFacts = ({ callback: { about, outcome, at, attempts, to, detail } }: { readonly callback: Callback }) => (
  <Facts
    rows={[
      ["Callback", <Badge tone={CALLBACKS[outcome][0]}>{CALLBACKS[outcome][1]}</Badge>],
      ["About", `the job ${about}`],
      ["To", to],
      ["When", <Time at={at} />],
      ["Attempts", attempts],
      ["Answer", detail],
    ]}
  />
);

const MailFacts = ({ mail: { number, subject, at, recipients, to, outcome, detail } }: { readonly mail: MailSent }) => (
  <Facts
    rows={[
      [
        number === "queued" ? "Mail, queued" : `Mail, report ${number}`,
        <Badge tone={outcome === "sent" ? "good" : "bad"}>{outcome}</Badge>,
      ],
      ["Subject", subject],
      ["To", to?.join(", ") ?? many(recipients, "address", "addresses")],
      ["When", <Time at={at} />],
      ["Server said", detail],
    ]}
  />
);
