import { ADMIN, type MailView } from "@sluice/wire";
import { call } from "../api.ts";
import { useList } from "../list.ts";
import type { Place } from "../router.tsx";
import { Head, ListMark } from "../ui/bits.tsx";
import { Mails } from "../ui/mails.tsx";
import { Pager } from "../ui/pages.tsx";

export function Outbox({ place }: { readonly place: Place }) {
  const list = useList<MailView>("mails", place.query.get("cursor"), (cursor, signal) =>
    call(ADMIN.mails, { query: { cursor }, signal }),
  );
  return (
    <>
      <Head title="Outbox">
        <ListMark trouble={list.trouble} />
      </Head>
      <p class="quiet">This is a development fleet: mails are written to a folder instead of being sent.</p>
      <section class="card" aria-label="Mails">
        <Mails mails={list.items} trouble={list.trouble} />
      </section>
      <Pager place={place} next={list.next} />
    </>
  );
}
