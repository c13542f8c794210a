/** A case of a checklist, and what cases are made of. */
import { expect } from "@jest/globals";
import type { Fields, Said, Talk } from "./talk.ts";

export interface Stage {
  /** The caller that most cases need. */
  readonly talk: Talk;
  readonly door: Talk["door"];
  /** Another caller, with connections of its own. */
  another(): Talk;
  /** A name of jobs that no other case uses. */
  name(part?: string): string;
}

export interface Case {
  readonly says: string;
  readonly run: (stage: Stage) => Promise<void>;
}

export type Cases = Readonly<Record<string, Case>>;

export const OK = "200 OK";
export const NO_JOB = "404 No job found";
export const GONE = "404 No job with this jobID";

export type Shown = Readonly<Record<string, unknown>>;

/** What can be asked, as the cases ask it. */
export class Hand {
  readonly stage: Stage;
  readonly talk: Talk;

  constructor(stage: Stage, talk = stage.talk) {
    this.stage = stage;
    this.talk = talk;
  }

  async status(verb: string, fields: Fields = {}): Promise<string> {
    return (await this.talk.ask(verb, fields)).status;
  }
  async ok(verb: string, fields: Fields = {}): Promise<Said> {
    const said = await this.talk.ask(verb, fields);
    expect([verb, said.status]).toEqual([verb, OK]);
    return said;
  }
  async create(fields: Fields = {}): Promise<number> {
    const { content } = await this.ok("CreateJob", { name: this.stage.name(), ...fields });
    return (content as { readonly jobID: number }).jobID;
  }
  async get(name = this.stage.name(), fields: Fields = {}): Promise<Shown & { readonly jobID: number }> {
    return (await this.taken(name, fields)).job;
  }
  async taken(name = this.stage.name(), fields: Fields = {}) {
    const { content, lease } = await this.ok("GetJob", { name, ...fields });
    return { job: content as Shown & { readonly jobID: number }, lease: lease ?? "" };
  }
  async query(jobID: number): Promise<Shown> {
    return (await this.ok("QueryJob", { jobID })).content as Shown;
  }
  /** "-" for one that is gone. */
  async state(jobID: number): Promise<unknown> {
    const { status, content } = await this.talk.ask("QueryJob", { jobID });
    return status === OK ? (content as Shown)["state"] : status === GONE ? "-" : status;
  }
  async states(ids: readonly number[]): Promise<readonly unknown[]> {
    const states = [];
    for (const id of ids) states.push(await this.state(id));
    return states;
  }
  /** A parent that waits for its children, which are ready. */
  async family(children = 1): Promise<{ readonly parent: number; readonly ids: readonly number[] }> {
    const parent = await this.create({ name: this.stage.name("parent") });
    await this.get(this.stage.name("parent"));
    const ids: number[] = [];
    for (let i = 0; i < children; i++)
      ids.push(await this.create({ name: this.stage.name("child"), parentJobID: parent }));
    await this.ok("FinishJob", { jobID: parent });
    return { parent, ids };
  }
}

export const hand = (stage: Stage, talk?: Talk): Hand => new Hand(stage, talk);
/** `2026-11-16 13:00:00[.123]` as ms. */
export const msOf = (text: unknown): number => Date.parse(`${String(text).replace(" ", "T")}Z`);
