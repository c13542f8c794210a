export interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Buffer;
}

export interface Mail {
  /** The name of the batch's folder, and NUMBER or `queued`: the same for every attempt to send this report. */
  readonly name: string;
  /**
   * The left half of the Message-ID, as often as it is sent: by the batch's UUID, for another history of the tree may have
   * given its number to another batch, and mailboxes drop a second mail with the same id.
   */
  readonly messageName: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly attachments: readonly Attachment[];
  readonly sentAtMs: number;
  /** Of the submission that it is about. */
  readonly traceparent?: string | undefined;
}

export type Sent =
  | { readonly kind: "sent"; readonly detail: string }
  /** The server is away or said "not now". */
  | { readonly kind: "later"; readonly why: string }
  /** The server said "never": this mail will not get through. */
  | { readonly kind: "refused"; readonly why: string };

/** Where mails go. Sending a mail again under the same name is harmless. */
export interface Mailer {
  readonly send: (mail: Mail) => Promise<Sent>;
  readonly close: () => void;
}
