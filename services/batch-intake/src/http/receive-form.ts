/** A multipart form: fields to memory, files to disk as they come. */
import type { IncomingMessage } from "node:http";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { type Problem, problem } from "@sluice/http-api";
import { type DigestAlgorithm, parseDigestAlgorithm } from "@sluice/ingest-formats";
import type { IncomingFolder, StoredUpload } from "../files/incoming.ts";
import { FORM_NAMES } from "../submission/form-request.ts";
import { JSON_NAMES } from "../submission/json-request.ts";
import { uploadProblem, wrongFields } from "./deps.ts";

export interface ReceivedForm {
  readonly fields: ReadonlyMap<string, string>;
  readonly files: readonly ReceivedFile[];
}

export interface ReceivedFile extends StoredUpload {
  /** As the client named it; the `filename` field may say otherwise. */
  readonly name: string;
}

export type FormResult =
  | { readonly ok: true; readonly form: ReceivedForm }
  | { readonly ok: false; readonly problem: Problem }
  /** The client went away: there is nobody to answer. */
  | { readonly ok: false; readonly problem: null };

const FIELDS_MAX = 100;
const FIELD_BYTES_MAX = 64 * 1024;
const FILES_MAX = 100;
const FILE_FIELD = "file";

export interface FormRules {
  readonly maxUploadBytes: number;
  /** Asked before a file is read, with the fields that came before it: whoever may not send it need not. */
  readonly refuses: (fields: ReadonlyMap<string, string>) => Problem | null;
}

export function receiveForm(req: IncomingMessage, incoming: IncomingFolder, rules: FormRules): Promise<FormResult> {
  const contentType = req.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*;/i.test(contentType)) {
    const detail = "expected multipart/form-data with a boundary";
    return Promise.resolve({ ok: false, problem: problem("UNSUPPORTED_MEDIA_TYPE", detail) });
  }
  return new FormReceiver(req, contentType, incoming, rules).run();
}

class FormReceiver {
  readonly #req: IncomingMessage;
  readonly #contentType: string;
  readonly #incoming: IncomingFolder;
  readonly #rules: FormRules;
  readonly #fields = new Map<string, string>();
  readonly #gone = new AbortController();
  readonly #files: Promise<ReceivedFile | null>[] = [];
  #stream: BusboyFileStream | null = null;
  #problem: Problem | null = null;

  constructor(req: IncomingMessage, contentType: string, incoming: IncomingFolder, rules: FormRules) {
    this.#req = req;
    this.#contentType = contentType;
    this.#incoming = incoming;
    this.#rules = rules;
  }

  async run(): Promise<FormResult> {
    await this.#parse();
    const files = await Promise.all(this.#files);
    if (this.#gone.signal.aborted) return { ok: false, problem: null };
    if (this.#problem !== null) return { ok: false, problem: this.#problem };
    return { ok: true, form: { fields: this.#fields, files: files.filter((file) => file !== null) } };
  }

  /** Returns when the form is at its end, or is given up: then the rest of the request is thrown away unread. */
  #parse(): Promise<void> {
    return new Promise((resolve) => {
      const parser = this.#parser();
      if (parser === null) {
        this.#req.resume();
        resolve();
        return;
      }
      const end = (): void => {
        this.#req.unpipe(parser);
        this.#req.resume();
        this.#stream?.destroy();
        resolve();
      };
      parser.on("finish", resolve);
      parser.on("error", (error: unknown) => {
        this.#complain(notAForm(error));
        end();
      });
      parser.on("field", (name, value, _nameCut, cut) => this.#takeField(name, value, cut));
      parser.on("file", (name, stream, filename) => this.#takeFile(name, stream, filename, end));
      parser.on("fieldsLimit", () => this.#complain(problem("MALFORMED_REQUEST", `more than ${FIELDS_MAX} fields`)));
      this.#req.once("close", () => {
        if (this.#req.complete) return;
        this.#gone.abort();
        end();
      });
      this.#req.pipe(parser);
    });
  }

  #parser() {
    try {
      return new Busboy({
        headers: { ...this.#req.headers, "content-type": this.#contentType },
        preservePath: true, // a name with folders is refused, not mended
        limits: { fields: FIELDS_MAX, fieldSize: FIELD_BYTES_MAX, fileSize: this.#rules.maxUploadBytes },
      });
    } catch (error) {
      this.#complain(notAForm(error));
      return null;
    }
  }

  /** The first thing that is wrong is the one that is told. */
  #complain(problem: Problem): void {
    this.#problem ??= problem;
  }

  #takeField(name: string, value: string, cut: boolean): void {
    if (cut) this.#complain(wrongField(name, `has more than ${FIELD_BYTES_MAX} bytes`));
    else if (this.#fields.has(name)) this.#complain(wrongField(name, "is there twice"));
    else this.#fields.set(name, value);
  }

  #takeFile(field: string, stream: BusboyFileStream, filename: string | undefined, giveUp: () => void): void {
    const refused = this.#rules.refuses(this.#fields);
    if (refused !== null) {
      this.#complain(refused);
      giveUp();
      return;
    }
    const wrong = this.#fileProblem(field);
    if (wrong !== null) {
      this.#complain(wrong);
      stream.resume();
      return;
    }
    this.#stream = stream;
    const stored = this.#store(this.#files.length, stream, filename ?? "").then((file) => {
      if (file === null) giveUp();
      return file;
    });
    this.#files.push(stored);
  }

  #fileProblem(field: string): Problem | null {
    if (field !== FILE_FIELD) return wrongField(field, `is a file; files are expected in the field ${FILE_FIELD}`);
    return this.#files.length < FILES_MAX ? null : wrongField(field, `more than ${FILES_MAX} files`);
  }

  async #store(slot: number, stream: BusboyFileStream, name: string): Promise<ReceivedFile | null> {
    const stored = await this.#incoming.receive(slot, stream, ["sha256", ...this.#wantedDigest()], this.#gone.signal);
    if (stream.truncated) {
      this.#complain(problem("PAYLOAD_TOO_LARGE", `the file has more than ${this.#rules.maxUploadBytes} bytes`));
      return null;
    }
    if (stored.ok) return { name, ...stored.value };
    this.#complain(uploadProblem(stored.error));
    return null;
  }

  /** Only if the field came before the file; else it is computed afterwards. */
  #wantedDigest(): readonly DigestAlgorithm[] {
    const type = this.#fields.get(FORM_NAMES.digest_type) ?? this.#fields.get(JSON_NAMES.digest_type);
    const algorithm = parseDigestAlgorithm(type ?? "");
    return algorithm.ok ? [algorithm.value] : [];
  }
}

const wrongField = (field: string, detail: string): Problem => wrongFields([{ field, detail }], "form");

function notAForm(error: unknown): Problem {
  const why = typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
  return problem("MALFORMED_REQUEST", `the body is no valid multipart/form-data: ${why}`);
}
