/** The last mails that came, in memory. Pure but for itself. */
export interface Mail {
  readonly id: number;
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly source: string;
}

export interface Mailbox {
  put(mail: Omit<Mail, "id" | "subject">): Mail;
  /** Oldest first. */
  list(): readonly Mail[];
  find(id: number): Mail | null;
}

export function makeMailbox(capacity: number): Mailbox {
  const mails: Mail[] = [];
  let last = 0;
  return {
    put(given) {
      const mail = { id: ++last, subject: subjectOf(given.source), ...given };
      mails.push(mail);
      if (mails.length > capacity) mails.shift();
      return mail;
    },
    list: () => [...mails],
    find: (id) => mails.find((mail) => mail.id === id) ?? null,
  };
}

/** As it stands in the head, unfolded; words in another encoding stay encoded. */
function subjectOf(source: string): string {
  const [head = ""] = source.split(/\r?\n\r?\n/, 1);
  const unfolded = head.replace(/\r?\n[ \t]+/g, " ");
  return /^subject:(.*)$/im.exec(unfolded)?.[1]?.trim() ?? "";
}
