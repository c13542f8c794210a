/** Calls of one job-api with a token. */
export interface Told {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export class HttpDoor {
  readonly #url: string;
  readonly #token: string | null;

  constructor(url: string, token: string | null) {
    this.#url = url;
    this.#token = token;
  }

  raw(method: string, path: string, body?: string, type = "application/json"): Promise<Response> {
    const authorization = this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
    return fetch(`${this.#url}${path}`, {
      method,
      headers: { ...authorization, ...(body === undefined ? {} : { "content-type": type }) },
      ...(body === undefined ? {} : { body }),
    });
  }

  async ask(method: string, path: string, body?: unknown): Promise<Told> {
    const response = await this.raw(method, path, body === undefined ? undefined : JSON.stringify(body));
    return { status: response.status, body: (await response.json()) as Told["body"] };
  }

  async text(method: string, path: string, body: string, type = "text/plain"): Promise<string> {
    return (await this.raw(method, path, body, type)).text();
  }
}
