import { describe, expect, test } from "@jest/globals";
import { jobId, paths } from "@sluice/queue-core";
import { checkTransactions } from "../src/invariants/check.ts";
import type { LoggedOp, Transaction } from "../src/transaction.ts";

const transaction = (zxid: bigint, session: bigint, kind: Transaction["kind"], ops: LoggedOp[] = []): Transaction => ({
  zxid,
  session,
  timeMs: 0,
  kind,
  ops,
});

const create = (path: string): LoggedOp => ({ op: "create", path, data: Buffer.alloc(0), ephemeral: false });

describe("the checker", () => {
  test("finds a write that was accepted after its session had ended", () => {
    const history = [
      transaction(1n, 7n, "create-session"),
      transaction(2n, 7n, "write", [create("/a")]),
      transaction(3n, 7n, "close-session"),
      transaction(4n, 7n, "write", [create("/b")]),
    ];

    expect(checkTransactions(() => history)).toEqual({
      transactions: 2,
      violations: [{ zxid: 4n, invariant: "L-01 CLOSED-SESSION-WRITES", detail: "session 0x7 wrote /b after its end" }],
    });
  });

  test("looks only below its root", () => {
    const ghost = create(paths.queueEntry("Pending", 5, jobId(1)));
    const elsewhere = { ...ghost, path: `/elsewhere${ghost.path}` };
    const history = [transaction(1n, 7n, "write", [elsewhere])];

    expect(checkTransactions(() => history, { root: "/here" })).toEqual({ transactions: 0, violations: [] });
    expect(checkTransactions(() => history, { root: "/else" })).toEqual({ transactions: 0, violations: [] });
    expect(checkTransactions(() => history, { root: "/elsewhere" }).violations).toMatchObject([
      { invariant: "I-07 NO-GHOST" },
    ]);
  });

  test.each([paths.importing, paths.restoring])(
    "judges nothing while %s stands there, and everything afterwards",
    (marker) => {
      const ghost = (n: number) => create(paths.queueEntry("Pending", 5, jobId(n)));
      const history = [
        transaction(1n, 7n, "write", [create(marker)]),
        transaction(2n, 7n, "write", [ghost(1)]),
        transaction(3n, 7n, "write", [{ op: "delete", path: marker }]),
        transaction(4n, 7n, "write", [ghost(2)]),
      ];

      expect(checkTransactions(() => history).violations.map(({ zxid }) => zxid)).toEqual([4n]);
    },
  );

  test("believes what it is told of a session's role", () => {
    const id = jobId(1);
    const status = { ...create(paths.jobStatus(id)), data: Buffer.from('{"status":"Pending"}') };
    const history = [transaction(1n, 7n, "write", [create(paths.job(id)), status])];
    const roles = new Map([[7n, "downloader" as const]]);
    const broken = (options: Parameters<typeof checkTransactions>[1]) =>
      checkTransactions(() => history, options).violations.map(({ invariant }) => invariant);

    expect(broken({})).not.toContain("I-15 LEGAL-EDGE");
    expect(broken({ roles })).toContain("I-15 LEGAL-EDGE");
  });
});
