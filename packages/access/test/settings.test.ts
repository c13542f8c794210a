import { describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { ACCESS_FIELDS, ACCESS_RELATIONS, openAccess } from "../src/index.ts";

const broken = (env: Readonly<Record<string, string>>): string[] => {
  const values = { HOST: "127.0.0.1", ...z.object(ACCESS_FIELDS).parse(env), ...env };
  return ACCESS_RELATIONS.filter(({ holds }) => !holds(values)).map(({ path }) => path);
};

describe("settings of authentication", () => {
  it.each([
    ["a laptop without any", {}, []],
    ["authentication off for other machines", { HOST: "0.0.0.0" }, ["HOST"]],
    ["authentication on for other machines", { HOST: "0.0.0.0", AUTH: "on" }, []],
    ["production without authentication", { NODE_ENV: "production" }, ["AUTH"]],
    ["production that nobody could enter", { NODE_ENV: "production", AUTH: "on" }, ["AUTH_TOKENS_FILE"]],
    ["production with a file", { NODE_ENV: "production", AUTH: "on", AUTH_TOKENS_FILE: "/run/tokens.json" }, []],
    ["production with a provider", { NODE_ENV: "production", AUTH: "on", OIDC_ISSUER: "https://idp.example" }, []],
    ["a name that only looks like loopback", { HOST: "127.example.org" }, ["HOST"]],
    ["a provider without TLS, in development", { AUTH: "on", OIDC_ISSUER: "http://idp.example" }, []],
    [
      "a provider without TLS, in production",
      { NODE_ENV: "production", AUTH: "on", OIDC_ISSUER: "http://idp.example", OIDC_JWKS_URL: "http://idp.example/k" },
      ["OIDC_ISSUER", "OIDC_JWKS_URL"],
    ],
    ["a provider without TLS, on a staging fleet", { NODE_ENV: "staging", OIDC_ISSUER: "http://idp" }, ["OIDC_ISSUER"]],
  ])("judge %s", (_what, env, paths) => {
    expect(broken(env as Record<string, string>)).toEqual(paths);
  });

  it.each([
    ["", []],
    ["10.0.0.0/8, ::1", ["10.0.0.0/8", "::1"]],
    ["uniquelocal,loopback", ["uniquelocal", "loopback"]],
  ])("read %p as proxies", (raw, proxies) => {
    expect(z.object(ACCESS_FIELDS).parse({ TRUSTED_PROXIES: raw }).TRUSTED_PROXIES).toEqual(proxies);
  });

  it.each(["true", "*", "0.0.0.0/0", "::/0", "10.0.0.0/33", "proxy.example", "10.0.0.0/8/8"])(
    "trust no proxy that is called %s",
    (raw) => {
      expect(z.object(ACCESS_FIELDS).safeParse({ TRUSTED_PROXIES: raw }).success).toBe(false);
    },
  );

  it("let anybody in only when they say so", async () => {
    const parts = {
      session: () => null,
      clock: { nowMs: () => 0, monotonicMs: () => 0 },
      fetchKeys: () => Promise.reject(new Error("no provider")),
      onProblem: () => undefined,
    };
    const off = openAccess({ ...parts, settings: z.object(ACCESS_FIELDS).parse({}) });
    expect(await off.authenticate(undefined)).toMatchObject({ kind: "caller", caller: { role: "admin" } });
    const on = openAccess({ ...parts, settings: z.object(ACCESS_FIELDS).parse({ AUTH: "on" }) });
    expect(await on.authenticate(undefined)).toEqual({ kind: "anonymous" });
  });
});
