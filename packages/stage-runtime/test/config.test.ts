import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { baseConfig, flag, parseConfig, port, readConfig, redactConfig, wholeNumber } from "../src/index.ts";

const RIGHT = { ZOOKEEPER_CONNECT: "zk1:2181,zk2:2181/sluice" };
const problemsOf = (env: Record<string, string>, schema: z.ZodObject = baseConfig): readonly string[] => {
  const result = readConfig(schema, env);
  return result.ok ? [] : result.problems;
};

describe("a configuration", () => {
  test("has the documented defaults and is frozen", () => {
    const result = readConfig(baseConfig, RIGHT);
    expect(result).toMatchObject({
      ok: true,
      config: {
        ZK_SESSION_TIMEOUT_MS: 10_000,
        POLL_INTERVAL_MS: 2_000,
        IDLE_POLL_INTERVAL_MS: 30_000,
        ATTEMPTS_MAX: 5,
        SHUTDOWN_GRACE_MS: 25_000,
      },
    });
    expect(result.ok && Object.isFrozen(result.config)).toBe(true);
  });

  test("is refused with everything that is wrong at once, by variable name", () => {
    const problems = problemsOf({
      ZOOKEEPER_CONNECT: "zk:port",
      ATTEMPTS_MAX: "none",
      LOG_LEVEL: "loud",
      SHUTDOWN_GRACE_MS: "0",
      FAILPOINTS: "estimator=kill",
      POLL_INTERVAL_MS: "40000",
      WORKER_ID: "a/b",
    });
    expect(problems.map((line) => line.split(":")[0]).sort()).toEqual([
      "ATTEMPTS_MAX",
      "FAILPOINTS",
      "IDLE_POLL_INTERVAL_MS",
      "LOG_LEVEL",
      "SHUTDOWN_GRACE_MS",
      "WORKER_ID",
      "ZOOKEEPER_CONNECT",
    ]);
  });

  test("needs to know where ZooKeeper is; empty counts as unset", () => {
    expect(problemsOf({ ZOOKEEPER_CONNECT: "" })).toEqual([
      "ZOOKEEPER_CONNECT: is required: host:port,host:port/chroot",
    ]);
  });

  test("has a port for metrics that is not the service's own", () => {
    const schema = baseConfig.extend({ PORT: port().default(8_080) });
    expect(problemsOf({ ...RIGHT, METRICS_PORT: "8080" }, schema)).toEqual([
      "METRICS_PORT: must not be the same as PORT",
    ]);
  });

  test("takes a secret from a file, and not from both places", () => {
    const schema = baseConfig.extend({ MAIL_PASSWORD: z.string() });
    const readSecret = (file: string): string => {
      if (file === "/run/none") throw new Error("no such file");
      return " s3cret\n";
    };
    const read = (env: Record<string, string>) => readConfig(schema, { ...RIGHT, ...env }, { readSecret });
    expect(read({ MAIL_PASSWORD_FILE: "/run/mail" })).toMatchObject({ ok: true, config: { MAIL_PASSWORD: "s3cret" } });
    expect(read({ MAIL_PASSWORD_FILE: "/run/mail", MAIL_PASSWORD: "x" })).toMatchObject({
      problems: ["MAIL_PASSWORD: set together with MAIL_PASSWORD_FILE"],
    });
    expect(read({ MAIL_PASSWORD_FILE: "/run/none" })).toMatchObject({
      problems: expect.arrayContaining(["MAIL_PASSWORD_FILE: no such file"]),
    });
  });

  test("reads whole numbers and flags, and nothing that only looks like them", () => {
    const schema = z.object({ N: wholeNumber({ min: 1, max: 9 }), F: flag() });
    const n = "N: must be a whole number from 1 to 9";
    expect(readConfig(schema, { N: "9", F: "yes" })).toMatchObject({ config: { N: 9, F: true } });
    expect(problemsOf({ N: "1.5", F: "maybe" }, schema)).toEqual([n, "F: must be true or false"]);
  });

  test("that is wrong is printed, and ends the process with code 78", () => {
    let said = "";
    const terminal = {
      complain: (text: string) => void (said = text),
      exit: (code: number): never => {
        throw new Error(`exit ${code}`);
      },
    };
    expect(() => parseConfig("estimator", baseConfig, { ATTEMPTS_MAX: "0" }, [], terminal)).toThrow("exit 78");
    expect(said).toBe(
      "estimator: wrong configuration\n" +
        "  ZOOKEEPER_CONNECT: is required: host:port,host:port/chroot\n" +
        "  ATTEMPTS_MAX: must be a whole number from 1 to 100\n",
    );
  });

  test("is printed without its secrets", () => {
    expect(
      redactConfig({
        EZID_PASSWORD: "p",
        INVENTORY_URL: "mysql://user:pw@db/inv",
        STORAGE_URL: "https://store/x?X-Amz-Signature=abc",
        POLL_INTERVAL_MS: 5,
        ZOOKEEPER_CONNECT: "zk:2181",
        ZOOKEEPER_READERS: [{ scheme: "digest", id: "tools:hash" }],
      }),
    ).toEqual({
      EZID_PASSWORD: "[redacted]",
      INVENTORY_URL: "mysql://[redacted]@db/inv",
      STORAGE_URL: "https://store/x?[redacted]",
      POLL_INTERVAL_MS: 5,
      ZOOKEEPER_CONNECT: "zk:2181",
      ZOOKEEPER_READERS: "[redacted]",
    });
  });

  test("refuses ways to ZooKeeper that only look secured", () => {
    const env = { ZOOKEEPER_CONNECT: "zk.example:2281", ZOOKEEPER_TLS: "on", ZOOKEEPER_TLS_KEY_FILE: "/nowhere.key" };
    const result = readConfig(baseConfig, env);
    expect(result.ok ? [] : result.problems).toEqual([
      expect.stringMatching(/^ZOOKEEPER_TLS_KEY_FILE: .*ENOENT/),
      "ZOOKEEPER_TLS_CA_FILE: is required with ZOOKEEPER_TLS=on",
      expect.stringMatching(/^ZOOKEEPER_TLS: is on, and we are nobody/),
    ]);
  });
});
