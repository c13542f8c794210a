/** D: GetJob and GetJobs. */
import { expect } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { type Cases, hand, NO_JOB, OK, type Shown } from "../case.ts";

const NINE = ["created", "data", "jobID", "lastRun", "name", "nextRun", "priority", "repeat", "retryAfter"];
const idsOf = (content: unknown): readonly number[] =>
  (content as { readonly jobs: readonly { readonly jobID: number }[] }).jobs.map(({ jobID }) => jobID);

export const GET: Cases = {
  D1: {
    says: "one name is a pattern, several are names",
    run: async (stage) => {
      const me = hand(stage);
      expect(await me.status("GetJob")).toBe("402 Missing name");
      const [a, b] = [await me.create({ name: stage.name("a1") }), await me.create({ name: stage.name("b2") })];
      expect(await me.status("GetJob", { name: stage.name("A?") })).toBe(NO_JOB);
      expect(await me.status("GetJob", { name: `${stage.name("x")},${stage.name("*")}` })).toBe(NO_JOB);
      expect((await me.get(stage.name("[a]?"))).jobID).toBe(a);
      expect((await me.get(`${stage.name("a1")},${stage.name("b2")}`)).jobID).toBe(b);
    },
  },
  D2: {
    says: "GetJob takes no numResults; GetJobs without it, or with less, brings one",
    run: async (stage) => {
      const me = hand(stage);
      const name = stage.name();
      const refused = "402 Cannot use numResults with GetJob; try GetJobs";
      // A field that HTTP's GetJob has not.
      expect(await me.status("GetJob", { name, numResults: 1 })).toBe(stage.door === "TCP" ? refused : "HTTP 400");
      const ids = [await me.create(), await me.create(), await me.create()];
      expect(idsOf((await me.ok("GetJobs", { name })).content)).toEqual([ids[0]]);
      expect(idsOf((await me.ok("GetJobs", { name, numResults: 0 })).content)).toEqual([ids[1]]);
    },
  },
  D3: {
    says: "only one priority, if asked so",
    run: async (stage) => {
      const me = hand(stage);
      const name = stage.name();
      await me.create({ jobPriority: 1000 });
      const wanted = await me.create({ jobPriority: 0 });
      expect((await me.get(name, { jobPriority: 0 })).jobID).toBe(wanted);
      expect(await me.status("GetJob", { name, jobPriority: 7 })).toBe("402 Invalid priority value");
    },
  },
  D4: {
    says: "by priority, then by time; only what is due",
    run: async (stage) => {
      const me = hand(stage);
      const [late, early, high] = [
        await me.create({ firstRun: "2020-02-02" }),
        await me.create({ firstRun: "2020-01-01" }),
        await me.create({ jobPriority: 1000 }),
      ];
      await me.create({ firstRun: "2100-01-01" });
      const { content } = await me.ok("GetJobs", { name: stage.name(), numResults: 9 });
      expect(idsOf(content)).toEqual([high, early, late]);
    },
  },
  D5: {
    says: "no job is 404; who waits is given the next one, or 404 when the time is over",
    run: async (stage) => {
      const me = hand(stage);
      const name = stage.name();
      expect(await me.status("GetJob", { name })).toBe(NO_JOB);
      expect(await me.status("GetJob", { name, connection: "wait", timeout: 20 })).toBe(NO_JOB);
      const waiting = stage.another().ask("GetJob", { name, connection: "wait", timeout: 60_000 });
      const jobID = await me.create();
      expect((await waiting).content).toMatchObject({ jobID });
    },
  },
  D6: {
    says: "nine fields, eleven for a child and for a resumed parent; times are those before it was taken",
    run: async (stage) => {
      const me = hand(stage);
      const id = await me.create();
      const { nextRun } = await me.query(id);
      const plain = await me.get();
      expect(Object.keys(plain).sort()).toEqual(NINE);
      expect([plain["lastRun"], plain["nextRun"]]).toEqual(["", nextRun]);
      const { parent, ids } = await me.family(2);
      const child = await me.get(stage.name("child"));
      expect(Object.keys(child).sort()).toEqual([...NINE, "parentData", "parentJobID"].sort());
      expect(child["parentJobID"]).toBe(parent);
      await me.ok("FinishJob", { jobID: child.jobID, data: '{"done":1}' });
      await me.ok("CancelJob", { jobID: ids[1] });
      const resumed: Shown = await me.get(stage.name("parent"));
      expect(Object.keys(resumed).sort()).toEqual([...NINE, "cancelledChildJobs", "finishedChildJobs"].sort());
      expect(resumed["finishedChildJobs"]).toEqual([{ jobID: ids[0], data: { done: 1 } }]);
      expect(resumed["cancelledChildJobs"]).toEqual([{ jobID: ids[1], data: {} }]);
    },
  },
  D7: {
    says: "GetJobs gives a list of up to numResults",
    run: async (stage) => {
      const me = hand(stage);
      const ids = [await me.create(), await me.create(), await me.create()];
      const first = await me.ok("GetJobs", { name: stage.name(), numResults: 2 });
      const second = await me.ok("GetJobs", { name: stage.name(), numResults: 2 });
      expect([idsOf(first.content), idsOf(second.content)]).toEqual([ids.slice(0, 2), ids.slice(2)]);
    },
  },
  D8: {
    says: "mocked jobs are for those who ask for them, with the real ones",
    run: async (stage) => {
      const me = hand(stage);
      const name = stage.name();
      const mocked = await me.create({ mockRequest: true });
      expect(await me.status("GetJob", { name })).toBe(NO_JOB);
      const real = await me.create();
      const { content } = await me.ok("GetJobs", { name, numResults: 5, getMockedJobs: true });
      expect(idsOf(content)).toEqual([mocked, real]);
    },
  },
  D9: {
    says: "a job that was taken ten times is FAILED instead of given, and the answer is empty",
    run: async (stage) => {
      const me = hand(stage);
      for (const more of [{}, { retryAfter: "+1 HOUR" }]) {
        const id = await me.create({ data: '{"retryAfterCount":10}', ...more });
        const { content } = await me.ok("GetJob", { name: stage.name() });
        expect([content, await me.state(id)]).toEqual([{}, "FAILED"]);
      }
    },
  },
  D10: {
    says: "a job whose times leave the calendar is FAILED, and the others are given",
    run: async (stage) => {
      const me = hand(stage);
      const [broken, good] = [
        await me.create({
          retryAfter: "+999 YEARS, +999 YEARS, +999 YEARS, +999 YEARS, +999 YEARS, +999 YEARS, +999 YEARS, +999 YEARS",
        }),
        await me.create(),
      ];
      const { content } = await me.ok("GetJobs", { name: stage.name(), numResults: 5 });
      expect([idsOf(content), await me.state(broken)]).toEqual([[good], "FAILED"]);
    },
  },
  D11: {
    says: "what cannot be delivered is not taken, and does not count",
    run: async (stage) => {
      const me = hand(stage);
      const name = stage.name();
      const gone = stage.another();
      const waiting = gone.ask("GetJob", { name, connection: "wait", timeout: 60_000 }).catch(() => null);
      // Another one that waits behind it shows that both stand there.
      await me.status("GetJob", { name, connection: "wait", timeout: 20 });
      gone.hangUp();
      await waiting;
      // What is asked after the line was cut, at each process, is answered after the cut was seen.
      for (let n = 0; n < 4; n++) expect(await me.status("GetJob", { name })).toBe(NO_JOB);
      const id = await me.create({ retryAfter: "+1 HOUR" });
      await waitFor(async () => (await me.state(id)) === "QUEUED");
      if (stage.door === "TCP") {
        expect(await me.status("GetJob", { name, connection: "forget" })).toBe("202 Successfully queued");
        await waitFor(async () => (await me.state(id)) === "QUEUED");
      }
      expect((await me.get())["data"]).toEqual({});
    },
  },
  D12: {
    says: "two workers never get the same job",
    run: async (stage) => {
      const me = hand(stage);
      const name = stage.name();
      await me.ok("CreateJobs", { jobs: Array.from({ length: 40 }, () => ({ name })) });
      const takers = Array.from({ length: 8 }, () => stage.another());
      const taken = await Promise.all(
        takers.map(async (talk) => {
          const ids: number[] = [];
          for (;;) {
            const { status, content } = await talk.ask("GetJob", { name });
            if (status !== OK) return ids;
            ids.push((content as { readonly jobID: number }).jobID);
          }
        }),
      );
      expect(taken.flat()).toHaveLength(40);
      expect(new Set(taken.flat()).size).toBe(40);
    },
  },
};
