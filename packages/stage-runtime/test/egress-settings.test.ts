import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { egressSettings, readConfig } from "../src/index.ts";

const read = (env: Readonly<Record<string, string>>) => readConfig(z.object(egressSettings), env);

const allowed = (text: string): unknown => {
  const result = read({ EGRESS_ALLOW: text });
  return result.ok ? result.config.EGRESS_ALLOW : result.problems;
};

test("nothing but public hosts on the usual ports is allowed unless somebody says so", () => {
  expect(read({})).toEqual({
    ok: true,
    config: { ALLOW_LOOPBACK: false, EGRESS_ALLOW: [], EGRESS_PORTS: [80, 443, 8080, 8443] },
  });
});

describe("a rule", () => {
  test.each([
    ["10.2.0.0/16", { cidr: "10.2.0.0/16" }],
    ["10.2.0.0/16:8443", { cidr: "10.2.0.0/16", ports: [8443] }],
    ["10.2.0.7", { cidr: "10.2.0.7/32" }],
    ["10.2.0.7:80", { cidr: "10.2.0.7/32", ports: [80] }],
    ["fd00::/8", { cidr: "fd00::/8" }],
    ["fd00::7", { cidr: "fd00::7/128" }],
    ["[fd00::7]:8080", { cidr: "fd00::7/128", ports: [8080] }],
    ["[fd00::/8]:443", { cidr: "fd00::/8", ports: [443] }],
    ["Store.Internal:8443", { host: "store.internal", ports: [8443] }],
    ["store", { host: "store" }],
  ])("%s is understood", (text, rule) => expect(allowed(text)).toEqual([rule]));

  test.each([
    ..."10.2.0.0/33 10.2.0.0/16/2 10.2.0.0/ 10.2.0/16 fd00::/129 10.2.0.0/16:0 10.2.0.7:65536 store.internal:http".split(
      " ",
    ),
    ...[
      "http://store.internal",
      "store internal",
      "*.internal",
      "-a",
      "10.2",
      "a,,b",
      "[fd00::7",
      "user@store",
      "a\nb",
    ],
  ])("%j is none", (text) =>
    expect(allowed(text)).toEqual([expect.stringMatching(/^EGRESS_ALLOW: must be a list of/)]),
  );
});

test("rules and ports come in lists", () => {
  expect(read({ EGRESS_ALLOW: "10.2.0.0/16, store.internal:8443", EGRESS_PORTS: "443, 9443" })).toMatchObject({
    config: {
      EGRESS_ALLOW: [{ cidr: "10.2.0.0/16" }, { host: "store.internal", ports: [8443] }],
      EGRESS_PORTS: [443, 9443],
    },
  });
  for (const EGRESS_PORTS of ["0", "http", "443,", "70000"])
    expect(read({ EGRESS_PORTS })).toEqual({
      ok: false,
      problems: ["EGRESS_PORTS: must be a list of ports from 1 to 65535"],
    });
});
