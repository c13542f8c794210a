import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import {
  endingTokens,
  firstOf,
  inScope,
  type JwtSettings,
  makeAuthenticator,
  makeJwtVerifier,
  may,
  mintToken,
  openTokenFile,
  PERMISSIONS,
  printTokenFile,
  redactTokens,
  ROLES,
  type TokenRecord,
  type TokenSource,
} from "../src/index.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const EMPTY: TokenSource = { find: () => Promise.resolve("none") };
const SILENT: TokenSource = { find: () => Promise.resolve("silence") };

const minted = (about: Partial<TokenRecord> = {}) => {
  const { id, token, hash } = mintToken(randomBytes);
  const record: TokenRecord = {
    id,
    name: "Ada",
    role: "operator",
    collections: ["*"],
    hash,
    created: "2026-11-16T00:00:00Z",
    created_by: "test",
    expires: "2027-01-01T00:00:00Z",
    ...about,
  };
  return { token, record };
};

const holding = (...records: readonly TokenRecord[]): TokenSource => ({
  find: (id) => Promise.resolve(records.find((record) => record.id === id) ?? "none"),
});

const authenticatorOf = (tokens: TokenSource) => makeAuthenticator({ tokens, jwt: null, nowMs: () => NOW });

describe("Basic authentication", () => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
  const { token, record } = minted();
  const parts = { tokens: holding(record), jwt: null, nowMs: () => NOW };

  it("has the token as its password, whatever the user is called", async () => {
    const authenticator = makeAuthenticator({ ...parts, basic: true });
    const authenticate = (header: string) => authenticator.authenticate(header);
    for (const user of ["ada", "", "with spaces"])
      expect(await authenticate(basic(`${user}:${token}`))).toMatchObject({ kind: "caller", caller: { name: "Ada" } });
    for (const wrong of [`ada:x${token}`, `${token}:`, token, "ada:secret:with:colons", ""])
      expect(await authenticate(basic(wrong))).toMatchObject({ kind: "refused" });
  });

  it("is taken only where it was asked for", async () => {
    const answer = await makeAuthenticator(parts).authenticate(basic(`ada:${token}`));
    expect(answer).toEqual({ kind: "refused", why: "only `Authorization: Bearer TOKEN` is understood" });
  });
});

describe("a caller who is not there", () => {
  it("is found by their id as they are now, and not when their token has ended", async () => {
    const [{ record }, { record: old }] = [
      minted({ collections: ["a_content"] }),
      minted({ expires: "2026-01-01T00:00:00Z" }),
    ];
    const callers = authenticatorOf(holding(record, old));
    expect(await callers.callerById(`token:${record.id}`)).toMatchObject({
      kind: "caller",
      caller: { id: `token:${record.id}`, name: "Ada", role: "operator", scope: ["a_content"] },
    });
    expect(await callers.callerById(`token:${old.id}`)).toEqual({
      kind: "refused",
      why: "their token expired at 2026-01-01T00:00:00Z",
    });
    for (const id of ["token:gone", "https://login.example ada", "anybody"])
      expect(await callers.callerById(id)).toMatchObject({ kind: "refused" });
    expect(await authenticatorOf(SILENT).callerById(`token:${record.id}`)).toEqual({ kind: "silence" });
  });
});

describe("a token that a file names as revoked", () => {
  it("is refused wherever it is kept, as soon as the file says so", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-tokens-"));
    const path = join(folder, "tokens.json");
    const [inTree, inFile] = [minted(), minted()];
    await writeFile(path, printTokenFile([inFile.record]));
    const file = openTokenFile(path, { onProblem: (problem) => expect(problem).toBe("none") });
    const authenticator = authenticatorOf(firstOf([file, holding(inTree.record)]));
    const kinds = async () =>
      await Promise.all(
        [inTree, inFile].map(async ({ token }) => (await authenticator.authenticate(`Bearer ${token}`)).kind),
      );
    expect(await kinds()).toEqual(["caller", "caller"]);
    expect(await file.all()).toEqual([inFile.record]);
    const revoked = [inTree.record.id, inFile.record.id];
    await writeFile(path, JSON.stringify({ tokens: [inFile.record], revoked }));
    expect(await kinds()).toEqual(["refused", "refused"]);
    expect(await file.all()).toEqual([]);
    await rm(folder, { recursive: true, force: true });
  });
});

describe("tokens that end soon", () => {
  it("are those of the next 14 days and the last 7, the soonest first", () => {
    const ending = (name: string, days: number) =>
      minted({ name, expires: new Date(NOW + days * 86_400_000).toISOString() }).record;
    const all = [
      ending("later", 15),
      ending("soon", 13),
      ending("now", 0),
      ending("lately", -6),
      ending("long ago", -8),
    ];
    expect(endingTokens(all, NOW).map(({ name }) => name)).toEqual(["lately", "now", "soon"]);
    expect(JSON.stringify(endingTokens(all, NOW))).not.toContain("hash");
  });
});

describe("roles", () => {
  it("lets viewers change nothing", () => {
    const changing = ["submit", "act-on-deposits", "act-on-fleet", "mend-tree", "manage-tokens"] as const;
    for (const permission of changing) expect(may({ role: "viewer", scope: "all" }, permission).ok).toBe(false);
  });

  it("lets admins do everything, and says what a refusal would take", () => {
    for (const permission of Object.keys(PERMISSIONS) as (keyof typeof PERMISSIONS)[]) {
      expect(may({ role: "admin", scope: "all", tenants: "all" }, permission)).toEqual({ ok: true });
    }
    expect(may({ role: "depositor", scope: "all" }, "manage-tokens")).toEqual({
      ok: false,
      why: "a depositor may not make, list and revoke tokens: that takes admin",
    });
  });

  it("keeps whoever is bound to collections from what touches the whole fleet", () => {
    expect(may({ role: "operator", scope: ["a_content"] }, "act-on-deposits").ok).toBe(true);
    expect(may({ role: "operator", scope: ["a_content"] }, "act-on-fleet").ok).toBe(false);
    expect(ROLES.filter((role) => may({ role, scope: ["a_content"] }, "see-nodes").ok)).toEqual([]);
  });

  it("keeps whoever is bound to tenants from what touches the jobs of all", () => {
    const ada = { role: "operator", scope: "all" } as const;
    expect(may({ ...ada, tenants: "all" }, "act-on-workers").ok).toBe(true);
    expect(may({ ...ada, tenants: ["a"] }, "act-on-workers")).toEqual({
      ok: false,
      why: "to take workers' jobs away from them takes a caller who is not bound to single tenants",
    });
    expect(may(ada, "act-on-workers").ok).toBe(false);
    expect(may({ ...ada, tenants: ["a"] }, "use-jobs").ok).toBe(true);
    expect(may({ role: "viewer", scope: "all", tenants: "all" }, "use-jobs").ok).toBe(false);
  });

  it("has collections in scope by name only", () => {
    expect(inScope(["a_content"], "a_content")).toBe(true);
    expect(inScope(["a_content"], "a_content2")).toBe(false);
    expect(inScope([], "a_content")).toBe(false);
    expect(inScope("all", "anything")).toBe(true);
  });
});

describe("tokens", () => {
  it("knows a token by its record, which has no secret in it", async () => {
    const { token, record } = minted({ collections: ["a_content", "b_content"] });
    const found = await authenticatorOf(holding(record)).authenticate(`Bearer ${token}`);
    expect(found).toEqual({
      kind: "caller",
      caller: {
        id: `token:${record.id}`,
        name: "Ada",
        role: "operator",
        scope: ["a_content", "b_content"],
        tenants: [],
        stages: [],
      },
    });
    expect(JSON.stringify(record)).not.toContain(token.slice(17));
  });

  it.each([
    ["a worker", { role: "worker", collections: [], stages: ["recorder"] }, ["recorder"]],
    ["a worker of all stages", { role: "worker", collections: [], stages: ["*"] }, "all"],
    ["a worker that was given none", { role: "worker", collections: [] }, []],
    ["operators", { role: "operator" }, []],
    ["admins of everything", { role: "admin" }, "all"],
    ["admins of some collections", { role: "admin", collections: ["a_content"] }, []],
  ] as const)("says which stages are those of %s", async (_who, about, stages) => {
    const { token, record } = minted(about as Partial<TokenRecord>);
    const found = await authenticatorOf(holding(record)).authenticate(`Bearer ${token}`);
    expect(found).toMatchObject({ kind: "caller", caller: { stages } });
  });

  it.each([
    ["staff of all collections", { role: "viewer" }, "all"],
    ["staff of some", { role: "operator", collections: ["a_content"] }, []],
    ["depositors", { role: "depositor" }, []],
    ["whoever was given some", { role: "depositor", tenants: ["a", "b"] }, ["a", "b"]],
    ["whoever was given all", { role: "depositor", tenants: ["*"] }, "all"],
    ["staff that were given none", { role: "admin", tenants: [] }, []],
  ] as const)("says which tenants are those of %s", async (_who, about, tenants) => {
    const { token, record } = minted(about as Partial<TokenRecord>);
    const found = await authenticatorOf(holding(record)).authenticate(`Bearer ${token}`);
    expect(found).toMatchObject({ kind: "caller", caller: { tenants } });
  });

  it.each([
    [
      "another secret under a known id",
      (token: string) => `Bearer ${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`,
    ],
    ["an id that nobody has", (token: string) => `Bearer slc_${"z".repeat(12)}${token.slice(16)}`],
    ["a cut token", (token: string) => `Bearer ${token.slice(0, 40)}`],
    ["another scheme", () => "Basic dXNlcjpwYXNz"],
    ["two tokens", (token: string) => `Bearer ${token} ${token}`],
  ])("refuses %s", async (_what, header) => {
    const { token, record } = minted();
    expect((await authenticatorOf(holding(record)).authenticate(header(token))).kind).toBe("refused");
  });

  it("refuses a token from the moment it expires", async () => {
    const { token, record } = minted({ expires: new Date(NOW).toISOString() });
    expect(await authenticatorOf(holding(record)).authenticate(`Bearer ${token}`)).toEqual({
      kind: "refused",
      why: "the token expired at 2026-11-16T12:00:00.000Z",
    });
  });

  it("tells nothing-given from wrong, and wrong from cannot-tell", async () => {
    const { token } = minted();
    expect((await authenticatorOf(EMPTY).authenticate(undefined)).kind).toBe("anonymous");
    expect((await authenticatorOf(EMPTY).authenticate(`Bearer ${token}`)).kind).toBe("refused");
    expect((await authenticatorOf(firstOf([EMPTY, SILENT])).authenticate(`Bearer ${token}`)).kind).toBe("silence");
  });

  it("finds a token in one place although another place is silent", async () => {
    const { token, record } = minted();
    const found = await authenticatorOf(firstOf([SILENT, holding(record)])).authenticate(`Bearer ${token}`);
    expect(found.kind).toBe("caller");
  });

  it("takes tokens out of what is logged", () => {
    const { token, record } = minted();
    expect(redactTokens(`got ${token}!`)).toBe(`got slc_${record.id}_…!`);
  });
});

describe("a file of tokens", () => {
  let folder = "";
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "sluice-access-"))));
  afterEach(async () => rm(folder, { recursive: true }));

  it("is read again when it changes, and a broken version is not used", async () => {
    const path = join(folder, "tokens.json");
    const problems: string[] = [];
    const [first, second] = [minted(), minted()];
    await writeFile(path, printTokenFile([first.record]));
    const file = openTokenFile(path, { onProblem: (problem) => problems.push(problem) });
    expect(await file.find(first.record.id)).toEqual(first.record);
    await writeFile(path, printTokenFile([second.record, first.record]));
    expect(await file.find(second.record.id)).toEqual(second.record);
    await writeFile(path, '{"tokens":[{"id":"x"}]}');
    expect(await file.find(second.record.id)).toEqual(second.record);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain("tokens.0.id");
    await writeFile(path, printTokenFile([first.record]));
    expect(await file.find(second.record.id)).toBe("none");
  });

  it("says so when it is missing, once", async () => {
    const problems: string[] = [];
    const file = openTokenFile(join(folder, "none.json"), { onProblem: (problem) => problems.push(problem) });
    expect(await file.find("a".repeat(12))).toBe("none");
    expect(await file.find("a".repeat(12))).toBe("none");
    expect(problems).toEqual([`${join(folder, "none.json")} cannot be read`]);
  });
});

describe("JWTs of an identity provider", () => {
  let server: Server;
  let settings: JwtSettings;
  let sign: (
    claims: Record<string, unknown>,
    about?: { issuer?: string; key?: "other"; expires?: number },
  ) => Promise<string>;
  let fetched = 0;

  beforeEach(async () => {
    fetched = 0;
    const [ours, other] = [await generateKeyPair("ES256"), await generateKeyPair("ES256")];
    const jwk = { ...(await exportJWK(ours.publicKey)), kid: "k1", alg: "ES256", use: "sig" };
    server = createServer((request, response) => {
      response.setHeader("content-type", "application/json");
      if (request.url?.includes("openid-configuration") === true) {
        response.end(JSON.stringify({ issuer: `http://${request.headers.host ?? ""}`, jwks_uri: settings.jwksUrl }));
        return;
      }
      fetched++;
      response.end(JSON.stringify({ keys: [jwk] }));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    settings = {
      issuer: "https://idp.example",
      audience: "sluice",
      jwksUrl: `http://127.0.0.1:${port}/keys`,
      roleClaim: "realm_access.roles",
      collectionsClaim: "collections",
      tenantsClaim: "tenants",
    };
    sign = (claims, about = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", kid: "k1" })
        .setIssuer(about.issuer ?? settings.issuer)
        .setAudience("sluice")
        .setExpirationTime(about.expires ?? NOW / 1000 + 600)
        .sign(about.key === "other" ? other.privateKey : ours.privateKey);
  });
  afterEach(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close").catch(() => undefined);
  });

  const verifier = () => makeJwtVerifier(settings, (url, init) => fetch(url, init));
  const authenticate = async (token: string) =>
    makeAuthenticator({ tokens: EMPTY, jwt: verifier(), nowMs: () => NOW }).authenticate(`Bearer ${token}`);

  it("makes a caller of the claims, the role that may most first", async () => {
    const token = await sign({
      sub: "u1",
      email: "ada@example.org",
      realm_access: { roles: ["viewer", "operator", "other"] },
      collections: ["a_content"],
    });
    expect(await authenticate(token)).toEqual({
      kind: "caller",
      caller: {
        id: "jwt:u1",
        name: "ada@example.org",
        role: "operator",
        scope: ["a_content"],
        tenants: [],
        stages: [],
      },
    });
  });

  it("binds a depositor without collections to none, and staff to all", async () => {
    const scopes: unknown[] = [];
    for (const role of ["depositor", "viewer"]) {
      const found = await authenticate(await sign({ sub: "u", realm_access: { roles: [role] } }));
      scopes.push(found.kind === "caller" ? found.caller.scope : found);
    }
    expect(scopes).toEqual([[], "all"]);
  });

  it("takes the tenants of the job queue from a claim, and gives a depositor without it none", async () => {
    const tenants: unknown[] = [];
    for (const claims of [{}, { tenants: ["a"] }, { tenants: "*" }]) {
      const token = await sign({ sub: "u", realm_access: { roles: ["depositor"] }, ...claims });
      const found = await authenticate(token);
      tenants.push(found.kind === "caller" ? found.caller.tenants : found);
    }
    expect(tenants).toEqual([[], ["a"], "all"]);
  });

  it("refuses what is expired, of another issuer, signed by another key, without a role, or unsigned", async () => {
    const claims = { sub: "u", realm_access: { roles: ["admin"] } };
    const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(
      JSON.stringify({ ...claims, iss: settings.issuer, aud: "sluice", exp: NOW / 1000 + 600 }),
    ).toString("base64url")}.`;
    const attempts = [
      await sign(claims, { expires: NOW / 1000 - 60 }),
      await sign(claims, { issuer: "https://evil.example" }),
      await sign(claims, { key: "other" }),
      await sign({ sub: "u", realm_access: { roles: ["king"] } }),
      unsigned,
    ];
    const kinds: string[] = [];
    for (const token of attempts) kinds.push((await authenticate(token)).kind);
    expect(kinds).toEqual(["refused", "refused", "refused", "refused", "refused"]);
  });

  it("finds the keys from the issuer's own description, if that is the issuer's", async () => {
    const { jwksUrl, ...rest } = settings;
    const issuer = new URL(jwksUrl ?? "").origin;
    const claims = { sub: "u", realm_access: { roles: ["admin"] } };
    const found = makeJwtVerifier({ ...rest, issuer }, (url, init) => fetch(url, init));
    expect((await found.verify(await sign(claims, { issuer }), new Date(NOW))).kind).toBe("caller");
    const other = makeJwtVerifier({ ...rest, issuer: `${issuer}/` }, (url, init) => fetch(url, init));
    expect((await other.verify(await sign(claims, { issuer: `${issuer}/` }), new Date(NOW))).kind).toBe("silence");
  });

  it("asks for the keys once, and says that it cannot tell when they cannot be had", async () => {
    const claims = { sub: "u", realm_access: { roles: ["admin"] } };
    const jwt = verifier();
    const authenticator = makeAuthenticator({ tokens: EMPTY, jwt, nowMs: () => NOW });
    for (let i = 0; i < 3; i++) await authenticator.authenticate(`Bearer ${await sign(claims)}`);
    expect(fetched).toBe(1);
    const token = await sign(claims);
    server.close();
    server.closeAllConnections();
    expect((await authenticate(token)).kind).toBe("silence");
  });
});
