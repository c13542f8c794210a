/** What a client of Bedrock can see: every command over a connection of its own, in the fields that come by themselves. */
import { expect } from "@jest/globals";
import { type Case, Hand, msOf, type Shown, type Stage } from "../case.ts";

export class Client extends Hand {
  /** Everything about a job, where upstream reads its database. */
  async seen(jobID: number): Promise<Shown> {
    return (await this.ok("QueryJob", { jobID, fields: "all" })).content as Shown;
  }
  /** Made and taken. */
  async running(fields: Shown & { readonly name?: string } = {}): Promise<number> {
    const jobID = await this.create(fields);
    expect((await this.get(fields.name ?? this.stage.name())).jobID).toBe(jobID);
    return jobID;
  }
  /** A running parent with children that wait for it. */
  async parentOf(
    ...children: readonly string[]
  ): Promise<{ readonly parent: number; readonly ids: readonly number[] }> {
    const parent = await this.running({ name: this.stage.name("parent") });
    const ids: number[] = [];
    for (const child of children) ids.push(await this.create({ name: this.stage.name(child), parentJobID: parent }));
    return { parent, ids };
  }
  /** Seconds from its last run to its next one. */
  async rest(jobID: number): Promise<number> {
    const { lastRun, nextRun } = await this.seen(jobID);
    return (msOf(nextRun) - msOf(lastRun)) / 1_000;
  }
  /** It is due, whatever its time was. */
  async makeDue(jobID: number): Promise<void> {
    await this.ok("UpdateJob", { jobID, data: "{}", nextRun: "2020-01-01 00:00:00" });
  }
}

type Play = (me: Client, stage: Stage) => Promise<unknown>;

export const cases = (plays: Readonly<Record<string, Play>>): Readonly<Record<string, Case>> =>
  Object.fromEntries(
    Object.entries(plays).map(([name, play]) => [
      name,
      {
        says: "",
        run: async (stage: Stage): Promise<void> => {
          await play(new Client(stage), stage);
        },
      },
    ]),
  );
