import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type KeyFetcher, openKeyFetcher } from "../src/index.ts";

let provider: Server;
let url = "";
const opened: KeyFetcher[] = [];

beforeEach(async () => {
  provider = createServer((request, response) => {
    if (request.url === "/moved") response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
    else
      response
        .writeHead(request.url === "/keys" ? 200 : 404, { "content-type": "application/json" })
        .end('{"keys":[]}');
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  provider.close();
});

function fetcher(settings: Parameters<typeof openKeyFetcher>[0]) {
  const made = openKeyFetcher(settings);
  opened.push(made);
  return (from: string) => made.fetchKeys(from, { headers: new Headers(), signal: new AbortController().signal });
}

describe("the provider's keys", () => {
  it("come from where the settings say, also inside the walls", async () => {
    const answer = await fetcher({ OIDC_ISSUER: url, OIDC_JWKS_URL: undefined })(`${url}/keys`);
    expect([answer.status, await answer.json()]).toEqual([200, { keys: [] }]);
    const other = fetcher({ OIDC_ISSUER: "https://idp.example", OIDC_JWKS_URL: `${url}/keys` });
    expect((await other(`${url}/nothing`)).status).toBe(404);
  });

  it("come from nowhere else inside them, not even by a redirect", async () => {
    const elsewhere = fetcher({ OIDC_ISSUER: "https://idp.example", OIDC_JWKS_URL: undefined });
    await expect(elsewhere(`${url}/keys`)).rejects.toThrow("not public");
    await expect(fetcher({ OIDC_ISSUER: url, OIDC_JWKS_URL: undefined })(`${url}/moved`)).rejects.toThrow("not public");
  });
});
