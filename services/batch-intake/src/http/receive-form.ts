/** A multipart form: fields to memory, files to disk as they come. */
import type { IncomingMessage } from "node:http";
import { Busboy, type BusboyFileStream } from "@fastify/busboy";
import { type Problem, problem } from "@sluice/http-api";
import { type DigestAlgorithm, parseDigestAlgorithm } from "@sluice/ingest-formats";
import type { IncomingFolder, StoredUpload } from "../files/incoming.ts";
import { FORM_NAMES } from "../submission/form-request.ts";
import { JSON_NAMES } from "../submission/json-request.ts";
import { type UploadLimits, uploadProblem, wrongFields } from "./deps.ts";

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
const TOO_MANY_FILES = problem("PAYLOAD_TOO_LARGE", `the form has more than ${FILES_MAX} files`, {
  errors: [{ field: FILE_FIELD, detail: `more than ${FILES_MAX} files` }],
});
/** Fields and the heads of parts, beside the files. */
const OVERHEAD_BYTES = FIELDS_MAX * FIELD_BYTES_MAX + FILES_MAX * 4_096;

export interface FormRules {
  readonly limits: UploadLimits;
  /** Whether the fields name the collection. */
  readonly isNamed: (fields: ReadonlyMap<string, string>) => boolean;
  /** Asked before a file is read, with the fields that came before it: whoever may not send it need not. */
  readonly refuses: (fields: ReadonlyMap<string, string>) => Problem | null;
}

export function receiveForm(req: IncomingMessage, incoming: IncomingFolder, rules: FormRules): Promise<FormResult> {
  const contentType = req.headers["content-type"] ?? "";
  if (!/^multipart\/form-data\s*;/i.test(contentType)) {
    const detail = "expected multipart/form-data with a boundary";
    return Promise.resolve({ ok: false, problem: problem("UNSUPPORTED_MEDIA_TYPE", detail) });
  }
  const announced = Number(req.headers["content-length"] ?? 0);
  if (announced > rules.limits.formBytes + OVERHEAD_BYTES)
    return Promise.resolve({ ok: false, problem: tooMuch(rules.limits.formBytes) });
  return new FormReceiver(req, contentType, incoming, rules).run();
}

class FormReceiver {
  readonly #req: IncomingMessage;
  readonly #contentType: string;
  readonly #incoming: IncomingFolder;
  readonly #rules: FormRules;
  readonly #fields = new Map<string, string>();
  /** Ends what is being written when nothing more of the form is wanted. */
  readonly #over = new AbortController();
  readonly #files: Promise<ReceivedFile | null>[] = [];
  #stream: BusboyFileStream | null = null;
  #problem: Problem | null = null;
  #bytes = 0;
  #isGone = false;
  #giveUp: () => void = () => undefined;

  constructor(req: IncomingMessage, contentType: string, incoming: IncomingFolder, rules: FormRules) {
    this.#req = req;
    this.#contentType = contentType;
    this.#incoming = incoming;
    this.#rules = rules;
  }

  async run(): Promise<FormResult> {
    await this.#parse();
    const files = await Promise.all(this.#files);
    if (this.#isGone) return { ok: false, problem: null };
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
        this.#over.abort();
        this.#stream?.destroy();
        resolve();
      };
      parser.on("finish", resolve);
      this.#giveUp = end;
      parser.on("error", (error: unknown) => {
        this.#complain(notAForm(error));
        end();
      });
      parser.on("field", (name, value, _nameCut, cut) => this.#takeField(name, value, cut));
      parser.on("file", (name, stream, filename) => this.#takeFile(name, stream, filename));
      parser.on("fieldsLimit", () =>
        this.#complain(problem("PAYLOAD_TOO_LARGE", `the form has more than ${FIELDS_MAX} fields`)),
      );
      this.#req.once("close", () => {
        if (this.#req.complete) return;
        this.#isGone = true;
        end();
      });
      this.#req.pipe(parser);
      // After the parser, which has read the fields of a chunk by then.
      this.#req.on("data", (chunk: Buffer) => this.#count(chunk.length));
    });
  }

  #parser() {
    try {
      return new Busboy({
        headers: { ...this.#req.headers, "content-type": this.#contentType },
        preservePath: true, // a name with folders is refused, not mended
        limits: { fields: FIELDS_MAX, fieldSize: FIELD_BYTES_MAX, fileSize: this.#rules.limits.fileBytes },
      });
    } catch (error) {
      this.#complain(notAForm(error));
      return null;
    }
  }

  /** Beyond its limits a form is not read to its end, only to be refused then. */
  #count(bytes: number): void {
    const { formBytes, unnamedBytes } = this.#rules.limits;
    this.#bytes += bytes;
    if (this.#problem !== null) return;
    if (this.#bytes > formBytes + OVERHEAD_BYTES) this.#refuse(tooMuch(formBytes));
    else if (this.#bytes > unnamedBytes && !this.#rules.isNamed(this.#fields)) this.#refuse(nameFirst(unnamedBytes));
  }

  #refuse(problem: Problem): void {
    this.#complain(problem);
    this.#giveUp();
  }

  /** The first thing that is wrong is the one that is told. */
  #complain(problem: Problem): void {
    this.#problem ??= problem;
  }

  #takeField(name: string, value: string, cut: boolean): void {
    if (cut) this.#complain(wrongField(name, `has more than ${FIELD_BYTES_MAX} bytes`));
    else if (this.#fields.has(name)) this.#complain(wrongField(name, "is there twice"));
    else this.#fields.set(name, value);
    const refused = this.#files.length > 0 ? this.#rules.refuses(this.#fields) : null;
    if (refused !== null) this.#refuse(refused);
  }

  #takeFile(field: string, stream: BusboyFileStream, filename: string | undefined): void {
    if (this.#over.signal.aborted) {
      stream.resume();
      return;
    }
    const refused = this.#rules.refuses(this.#fields);
    if (refused !== null) {
      this.#refuse(refused);
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
      if (file === null) this.#giveUp();
      return file;
    });
    this.#files.push(stored);
  }

  #fileProblem(field: string): Problem | null {
    if (field !== FILE_FIELD) return wrongField(field, `is a file; files are expected in the field ${FILE_FIELD}`);
    return this.#files.length < FILES_MAX ? null : TOO_MANY_FILES;
  }

  async #store(slot: number, stream: BusboyFileStream, name: string): Promise<ReceivedFile | null> {
    const stored = await this.#incoming.receive(slot, stream, ["sha256", ...this.#wantedDigest()], this.#over.signal);
    if (stream.truncated) {
      this.#complain(problem("PAYLOAD_TOO_LARGE", `the file has more than ${this.#rules.limits.fileBytes} bytes`));
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

const tooMuch = (bytes: number): Problem =>
  problem("PAYLOAD_TOO_LARGE", `the files of one form have more than ${bytes} bytes together: submit them in several`);

const nameFirst = (bytes: number): Problem =>
  problem("PAYLOAD_TOO_LARGE", `in a form larger than ${bytes} bytes the field profile comes before the file`);

const wrongField = (field: string, detail: string): Problem => wrongFields([{ field, detail }], "form");

function notAForm(error: unknown): Problem {
  const why = typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
  return problem("MALFORMED_REQUEST", `the body is no valid multipart/form-data: ${why}`);
}
