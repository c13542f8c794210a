/** What doors do with what is too large for the tree: out of the command before it is asked, into the answer afterwards. */
import type { BlobRef, BlobStore } from "../blobs.ts";
import type { Command } from "./commands.ts";
import type { ChildView, Content, Reply, Taken, TakenView } from "./views.ts";
import { type GivenData, isLargeResult, isTooLarge, joinObjects, NO_DATA } from "./data.ts";
import { type Status, STATUS } from "./statuses.ts";

/** The same command with names instead of what is large. Without a store, what is large is refused. */
export async function storeLarge(command: Command, blobs: BlobStore | null): Promise<Command | Status> {
  const data = dataOf(command).filter(({ text }) => isTooLarge(text));
  const result = "result" in command && typeof command.result === "string" ? command.result : null;
  const large = result !== null && isLargeResult(result);
  if (data.length === 0 && !large) return command;
  if (blobs === null) return STATUS.malformed(data.length > 0 ? "data" : "result");
  const refs = new Map<string, BlobRef>();
  for (const { text } of data) refs.set(text, await blobs.put(Buffer.from(text)));
  const named = withData(command, (given) => {
    const ref = refs.get(given.text);
    return ref === undefined ? given : { ...given, text: NO_DATA.text, ref };
  });
  return large && "result" in named ? { ...named, result: await blobs.put(Buffer.from(result)) } : named;
}

function dataOf(command: Command): readonly GivenData[] {
  if (command.verb === "CreateJobs" || command.verb === "IngestAdds")
    return command.jobs.map((each) => ("job" in each ? each.job.data : each.data));
  const then = "then" in command ? (command.then ?? []) : [];
  return [...("data" in command && command.data !== null ? [command.data] : []), ...then.map(({ data }) => data)];
}

function withData(command: Command, change: (given: GivenData) => GivenData): Command {
  switch (command.verb) {
    case "CreateJobs":
      return { ...command, jobs: command.jobs.map((job) => ({ ...job, data: change(job.data) })) };
    case "IngestAdds":
      return {
        ...command,
        jobs: command.jobs.map((each) => ({ ...each, job: { ...each.job, data: change(each.job.data) } })),
      };
    case "UpdateJob":
      return { ...command, data: command.data === null ? null : change(command.data) };
    case "SwapJob":
      return { ...command, data: change(command.data) };
    case "FinishJob":
    case "RetryJob":
    case "FailJob":
      return {
        ...command,
        data: command.data === null ? null : change(command.data),
        ...(command.then === undefined
          ? {}
          : { then: command.then.map((job) => ({ ...job, data: change(job.data) })) }),
      };
    default:
      return command;
  }
}

/**
 * The same answer with the data of its jobs in full. Results stay names: they may be of 16 MB, and have a way of their own.
 * Null: the store has lost a blob.
 */
export async function fetchLarge(answer: Reply, blobs: BlobStore | null): Promise<Reply | null> {
  try {
    return { ...answer, content: await filled(answer.content, async (ref) => textOf(ref, blobs)) };
  } catch (error) {
    if (error instanceof Lost) return null;
    throw error;
  }
}

class Lost extends Error {}

async function textOf(ref: BlobRef, blobs: BlobStore | null): Promise<string> {
  const bytes = await blobs?.get(ref);
  if (bytes == null) throw new Lost(ref.sha256);
  const text = bytes.toString("utf8");
  return ref.as === "payload" ? JSON.stringify({ payload: text }) : text;
}

type Fetch = (ref: BlobRef) => Promise<string>;

async function filled(content: Content, fetch: Fetch): Promise<Content> {
  switch (content.kind) {
    case "job":
      return { ...content, job: await withText(content.job, fetch) };
    case "list":
      return { ...content, jobs: await Promise.all(content.jobs.map((job) => withText(job, fetch))) };
    case "record": {
      const { data, dataRef } = content.record;
      if (dataRef === null) return content;
      return {
        ...content,
        record: { ...content.record, data: joinObjects(data, await fetch(dataRef)), dataRef: null },
      };
    }
    case "taken":
      return { ...content, jobs: await wholeOf(content.jobs, fetch) };
    default:
      return content;
  }
}

/** A job whose blob is lost must not keep others from who took them along with it: its lease runs out. */
async function wholeOf(jobs: readonly Taken[], fetch: Fetch): Promise<readonly Taken[]> {
  const filling = jobs.map(async (job): Promise<Taken | Lost> => {
    try {
      return { ...job, view: await withFamily(job.view, fetch) };
    } catch (error) {
      if (error instanceof Lost) return error;
      throw error;
    }
  });
  const filled = await Promise.all(filling);
  const whole = filled.flatMap((each) => (each instanceof Lost ? [] : each));
  const lost = filled.find((each) => each instanceof Lost);
  if (whole.length === 0 && lost !== undefined) throw lost;
  return whole;
}

async function withText<T extends { readonly data: string; readonly dataRef?: BlobRef }>(
  view: T,
  fetch: Fetch,
): Promise<T> {
  if (view.dataRef === undefined) return view;
  const { dataRef, ...rest } = view;
  return { ...rest, data: joinObjects(view.data, await fetch(dataRef)) } as T;
}

async function withFamily(view: TakenView, fetch: Fetch): Promise<TakenView> {
  const { parentDataRef, ...own } = await withText(view, fetch);
  const child = async (each: ChildView): Promise<ChildView> =>
    each.data === null ? each : withText({ ...each, data: each.data }, fetch);
  const children = async (list: readonly ChildView[] | undefined): Promise<readonly ChildView[] | undefined> =>
    list && Promise.all(list.map(child));
  const [finished, cancelled] = [await children(own.finishedChildJobs), await children(own.cancelledChildJobs)];
  return {
    ...own,
    ...(parentDataRef === undefined
      ? {}
      : { parentData: joinObjects(own.parentData ?? NO_DATA.text, await fetch(parentDataRef)) }),
    ...(finished === undefined ? {} : { finishedChildJobs: finished }),
    ...(cancelled === undefined ? {} : { cancelledChildJobs: cancelled }),
  };
}
