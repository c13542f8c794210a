import type { DublinCoreElement } from "@sluice/ingest-formats";

/** What a depositor asks for, whichever way it came; nothing of it is checked yet. Absent = not given. */
export interface SubmissionRequest {
  readonly profile?: string;
  readonly submitter?: string;
  readonly payload: RequestedPayload;
  /** An update makes a version out of what is there and what comes; not given = add. */
  readonly submission_mode?: "add" | "update";
  readonly type?: string;
  readonly digest_type?: string;
  readonly digest_value?: string;
  readonly title?: string;
  readonly creator?: string;
  readonly date?: string;
  readonly primary_id?: string;
  readonly local_id?: readonly string[];
  readonly notification?: string;
  readonly notification_format?: string;
  readonly note?: string;
  readonly response_form?: string;
  readonly retain_target_url?: string;
  readonly resource_type?: string;
  readonly dublin_core?: Readonly<Partial<Record<DublinCoreElement, string>>>;
  /** ERC in ANVL, several lines: fills what the fields above leave open. */
  readonly erc?: string;
}

export type RequestedPayload =
  | { readonly kind: "url"; readonly url?: string; readonly name?: string; readonly size?: string }
  /** Already on our disk; at least one. */
  | {
      readonly kind: "upload";
      readonly files: readonly UploadedFile[];
      /** So many object manifests of ours are beside a batch manifest of ours, whose rows name them. */
      readonly manifests?: number;
    };

export interface UploadedFile {
  readonly name: string;
  readonly size: number;
  /** The first bytes, from which a missing type is found. */
  readonly head: string;
}

/** Every field except the payload; what it is called depends on the way the submission came. */
export type FieldName =
  Exclude<keyof SubmissionRequest, "payload" | "submission_mode"> | "payload_url" | "payload_name" | "payload_size";
export type FieldNames = Readonly<Record<FieldName, string>>;
