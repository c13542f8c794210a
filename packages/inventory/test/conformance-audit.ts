/** What every inventory must do with the audit of operators' actions. */
import { describe, expect, test } from "@jest/globals";
import type { ArchivedAudit } from "../src/index.ts";
import type { Bench } from "./conformance.ts";

const AT = "2026-05-01 12:00:00 +0000";
const LATER = "2026-06-01 12:00:00 +0000";

const record = (number: number, past = "a"): ArchivedAudit => ({
  number,
  hash: `${past}${String(number).padStart(63, "0")}`,
  record: JSON.stringify({ number, past, why: "naïve 😀 'quoted' \\ and so on  " }),
});
const range = (first: number, last: number, past = "a") =>
  Array.from({ length: last - first + 1 }, (_, i) => record(first + i, past));

export function auditConformance({ inventory, another }: Bench): void {
  describe("the archived audit", () => {
    test("is empty at first; then it has what it was given, to the byte, once, page by page", async () => {
      expect(await inventory().auditEnd()).toEqual({ kind: "none" });
      expect(await inventory().leftAudit()).toEqual({ kind: "none" });
      expect(await inventory().keepAudit(range(1, 5), AT)).toEqual({ kind: "kept", added: 5, left: 0 });
      expect(await inventory().keepAudit(range(4, 7), LATER)).toEqual({ kind: "kept", added: 2, left: 0 });
      expect(await inventory().keepAudit([], LATER)).toEqual({ kind: "kept", added: 0, left: 0 });
      expect(await inventory().auditEnd()).toEqual({ kind: "found", value: record(7) });
      expect(await inventory().listAudit({ after: 2, limit: 3 })).toEqual({ kind: "found", value: range(3, 5) });
      expect(await inventory().listAudit({ before: 4, limit: 2 })).toEqual({
        kind: "found",
        value: [record(3), record(2)],
      });
      const asked = [record(2).hash, record(2, "b").hash];
      expect(await inventory().knownAudit(asked)).toEqual({ kind: "found", value: new Set([record(2).hash]) });
      expect(await inventory().knownAudit([])).toEqual({ kind: "found", value: new Set() });
    });

    test("given by two at once has each record once", async () => {
      const other = await another();
      const both = await Promise.all([inventory(), other].map((each) => each.keepAudit(range(1, 30), AT)));
      expect(both.filter(({ kind }) => kind === "kept").length).toBeGreaterThan(0);
      expect(await inventory().listAudit({ after: 0, limit: 100 })).toEqual({ kind: "found", value: range(1, 30) });
      await other.close();
    });

    test("keeps another past beside the chain, and takes it back when the tree does", async () => {
      await inventory().keepAudit(range(1, 9), AT);
      expect(await inventory().keepAudit(range(6, 7, "b"), LATER)).toEqual({ kind: "kept", added: 2, left: 4 });
      const chain = [...range(1, 5), ...range(6, 7, "b")];
      expect(await inventory().listAudit({ after: 0, limit: 100 })).toEqual({ kind: "found", value: chain });
      expect(await inventory().leftAudit()).toEqual({ kind: "found", value: { records: 4, first: 6, last: 9 } });
      expect(await inventory().knownAudit([record(6).hash])).toEqual({ kind: "found", value: new Set() });

      expect(await inventory().keepAudit([...range(6, 8), record(9, "c")], LATER)).toMatchObject({ added: 1, left: 2 });
      const back = [...range(1, 8), record(9, "c")];
      expect(await inventory().listAudit({ after: 0, limit: 100 })).toEqual({ kind: "found", value: back });
      expect(await inventory().leftAudit()).toEqual({ kind: "found", value: { records: 3, first: 6, last: 9 } });
    });

    test("keeps anchors, each once", async () => {
      const anchor = (number: number) => ({ number, hash: record(number).hash, anchor: `{"number":${number}}` });
      for (const number of [5, 9, 5]) await inventory().keepAuditAnchor(anchor(number));
      expect(await inventory().listAuditAnchors(0, 10)).toEqual({ kind: "found", value: [anchor(5), anchor(9)] });
      expect(await inventory().listAuditAnchors(5, 10)).toEqual({ kind: "found", value: [anchor(9)] });
    });
  });
}
