/** A: the protocol, and what is asked of every request. */
import { expect } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { type Cases, hand, OK } from "../case.ts";

const VERBS = [
  ...["GetJob", "GetJobs", "QueryJob", "CreateJob", "CreateJobs", "CancelJob", "UpdateJob"],
  ...["RetryJob", "FinishJob", "FailJob", "DeleteJob", "RequeueJobs", "CrashBedrockJob", "ClearCrashedBedrockJobs"],
];
const UNKNOWN = { TCP: "430 Unrecognized command", HTTP: "HTTP 404" } as const;

export const PROTOCOL: Cases = {
  A1: {
    says: "the verb is what stands before the first space, in any case",
    run: async (stage) => {
      const { talk } = stage;
      for (const verb of ["CreateJob / HTTP/1.1", "createjob", "CREATEJOB"])
        expect((await talk.ask(verb, { name: stage.name() })).status).toBe(OK);
      for (const verb of ["GetJob / HTTP/1.1", "getJOB"])
        expect((await talk.ask(verb, { name: stage.name() })).status).toBe(OK);
    },
  },
  A2: {
    says: "CancelJob is carried out however its line is written",
    run: async (stage) => {
      const me = hand(stage);
      const { ids } = await me.family(2);
      expect(await me.status("CancelJob / HTTP/1.1", { jobID: ids[0] })).toBe(OK);
      expect(await me.states(ids)).toEqual(["CANCELLED", "QUEUED"]);
    },
  },
  A3: {
    says: "fourteen verbs, and no others",
    run: async (stage) => {
      const me = hand(stage);
      for (const verb of VERBS) expect([verb, await me.status(verb)]).not.toEqual([verb, UNKNOWN[stage.door]]);
      expect(await me.status("PraiseJob")).toBe(UNKNOWN[stage.door]);
    },
  },
  A4: {
    says: "a jobID is a canonical integer",
    run: async (stage) => {
      const me = hand(stage);
      for (const verb of ["QueryJob", "FinishJob", "UpdateJob", "DeleteJob"]) {
        expect(await me.status(verb)).toBe("402 Missing jobID");
        for (const jobID of ["1x", "01", "+1"]) expect(await me.status(verb, { jobID })).toBe("402 Malformed jobID");
      }
    },
  },
  A5: {
    says: "texts are bounded: names, lists of names, data",
    run: async (stage) => {
      const me = hand(stage);
      expect(await me.status("CreateJob", { name: "" })).toBe("402 Missing name");
      expect(await me.status("CreateJob", { name: "n".repeat(256) })).toBe("402 Malformed name");
      expect(await me.status("CreateJob", { name: "n".repeat(255), firstRun: "2100-01-01" })).toBe(OK);
      expect(await me.status("GetJob", { name: "n".repeat(12_751) })).toBe("402 Malformed name");
      expect(await me.status("GetJob", { name: `${"n,".repeat(6_000)}n` })).toBe("404 No job found");
      const jobID = await me.create();
      const data = (bytes: number): string => `{"a":"${"x".repeat(bytes - 8)}"}`;
      expect(await me.status("UpdateJob", { jobID })).toBe("402 Missing data");
      expect(await me.status("UpdateJob", { jobID, data: data(1_048_576) })).toBe(OK);
      expect(await me.status("UpdateJob", { jobID, data: data(1_048_577) })).toBe("402 Malformed data");
    },
  },
  A6: {
    says: "a request waits as long as its timeout says",
    run: async (stage) => {
      const me = hand(stage);
      const wait = { name: stage.name(), connection: "wait" };
      expect(await me.status("GetJob", { ...wait, timeout: 1 })).toBe("404 No job found");
      const malformed = await me.status("GetJob", { ...wait, timeout: -1 });
      expect(malformed).toBe(stage.door === "TCP" ? "402 Malformed timeout" : "HTTP 400");
    },
  },
  A7: {
    says: "whoever does not wait for the answer is told 202, and it is done",
    run: async (stage) => {
      const me = hand(stage);
      const name = stage.name();
      expect(await me.status("CreateJob", { name, connection: "forget" })).toBe("202 Successfully queued");
      await waitFor(async () => (await me.status("GetJob", { name })) === OK);
      const later = (Date.now() + 3_600_000) * 1_000;
      expect(await me.status("CreateJob", { name, commandExecuteTime: later })).toBe("202 Successfully queued");
      expect(await me.status("GetJob", { name })).toBe("404 No job found");
    },
  },
  A8: {
    says: "a jobID is a JSON number that no reader spoils",
    run: async (stage) => {
      const me = hand(stage);
      const jobs = Array.from({ length: 20 }, () => ({ name: stage.name() }));
      const { text, content } = await me.ok("CreateJobs", { jobs });
      const { jobIDs } = content as { readonly jobIDs: readonly number[] };
      // Digit by digit what was sent, though it went through a reader of JSON.
      expect(text).toContain(`"jobIDs":[${jobIDs.join(",")}]`);
      expect([new Set(jobIDs).size, jobIDs.every((id) => Number.isSafeInteger(id) && id > 0)]).toEqual([20, true]);
      for (const id of jobIDs.slice(-2)) expect((await me.query(id))["jobID"]).toBe(id);
      // A number that no reader of JSON could hold is still a number, and nobody's.
      expect(await me.status("QueryJob", { jobID: "9223372036854775807" })).toBe("404 No job with this jobID");
    },
  },
  A9: {
    says: "Bedrock's own form shows numbers as such wherever they stand; HTTP keeps texts texts; data is embedded",
    run: async (stage) => {
      const me = hand(stage);
      const later = { firstRun: "2100-01-01" };
      for (const name of ["123", "-1.5e3", "true", "false", "null", '{"a":[1]}', "[1,2]"]) {
        const jobID = await me.create({ name, data: '{ "big":12345678901234567890 }', ...later });
        const { text } = await me.ok("QueryJob", { jobID });
        expect(text).toContain(stage.door === "TCP" ? `"name":${name}` : `"name":${JSON.stringify(name)}`);
        expect(text).toContain('"data":{ "big":12345678901234567890 }');
      }
      for (const name of ["01", "truely", "1x", "{a}"]) {
        const { text } = await me.ok("QueryJob", { jobID: await me.create({ name, ...later }) });
        expect(text).toContain(`"name":${JSON.stringify(name)}`);
      }
    },
  },
  A10: {
    says: "401 is bad JSON, 402 a bad parameter, 404 not found, 405 a wrong state, 500 a mock mismatch",
    run: async (stage) => {
      const me = hand(stage);
      expect(await me.status("CreateJobs", { jobs: [] })).toBe("401 Invalid JSON");
      expect(await me.status("CreateJob", { name: stage.name(), repeat: "now and then" })).toBe("402 Malformed repeat");
      expect(await me.status("QueryJob", { jobID: 999_999_999_999 })).toBe("404 No job with this jobID");
      const jobID = await me.create();
      expect(await me.status("FailJob", { jobID })).toBe("405 Can only fail RUNNING or RUNQUEUED jobs");
      await me.get();
      expect(await me.status("FinishJob", { jobID, data: '{"mockRequest":true}' })).toBe("500 Mock Mismatch");
    },
  },
};
