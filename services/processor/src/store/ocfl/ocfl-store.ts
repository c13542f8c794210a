/** STORAGE_URL=ocfl:DIR: objects in an OCFL 1.1 storage root on a file system. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { mayChange } from "@sluice/ingest-formats";
import type { Holding, ObjectStore, Standing, StoreContext, StoreRequest, StoreResult } from "../object-store.ts";
import { belongingOf } from "./belonging.ts";
import { headNumber, INVENTORY_NAME, type PrintedInventory, printInventory, versionName } from "./inventory.ts";
import { locate, type ObjectLocation } from "./layout.ts";
import { lookAtObject, mendObject } from "./object.ts";
import { placeObject, placeVersion, stageVersion } from "./place.ts";
import { holdsProducerFiles, planVersion, versionOfJob } from "./plan.ts";
import { claimStaging, dropStaging, openStorageRoot, type StorageRoot } from "./storage-root.ts";

/** A zombie may take the version number that we were going to use: then we look again. */
const TRIES = 3;

export async function openOcflStore(folder: string, nowMs: number): Promise<ObjectStore> {
  const root = await openStorageRoot(folder, nowMs);
  return {
    name: pathToFileURL(root.path).href,
    put: (request, ctx) => {
      const location = locate(request.ark);
      return orUnavailable(put({ root, location, path: join(root.path, location.path), request, ctx }));
    },
    holds: ({ ark }) => orUnavailable(holds(join(root.path, locate(ark).path), ark)),
    look: ({ ark }) => orUnavailable(look(join(root.path, locate(ark).path), ark)),
  };
}

async function orUnavailable<T>(work: Promise<T>): Promise<T | Unavailable> {
  try {
    return await work;
  } catch (error) {
    if (isFileSystemError(error)) return { kind: "unavailable", message: error.message };
    throw error;
  }
}

type Unavailable = Extract<StoreResult, { kind: "unavailable" }>;

const holds = async (path: string, ark: string): Promise<Holding> => {
  const { kind } = await lookAtObject(path, ark);
  return { kind: kind === "absent" ? "absent" : "there" };
};

async function look(path: string, ark: string): Promise<Standing> {
  const found = await lookAtObject(path, ark);
  if (found.kind === "absent") return found;
  if (found.kind === "damaged") return { kind: "refused", message: found.why };
  const { inventory } = found.printed;
  return { kind: "there", version: headNumber(inventory), belongs: await belongingOf(path, inventory) };
}

interface Put {
  readonly root: StorageRoot;
  readonly location: ObjectLocation;
  readonly path: string;
  readonly request: StoreRequest;
  readonly ctx: StoreContext;
}

async function put(job: Put): Promise<StoreResult> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const staging = await claimStaging(job.root, job.location.digest);
    const answer = await tryOnce(job, staging).catch(async (error: unknown) => {
      if (isFileSystemError(error)) await dropStaging(staging); // a full disk needs the room
      throw error;
    });
    await dropStaging(staging);
    if (answer !== "taken") return answer;
  }
  return { kind: "unavailable", message: `${job.request.ark} is being written by others` };
}

async function tryOnce(job: Put, staging: string): Promise<StoreResult | "taken"> {
  const found = await mendObject(job.path, job.request.ark, staging);
  if (found.kind === "damaged") return { kind: "refused", message: found.why };
  const current = found.kind === "whole" ? found.printed : null;
  const before = current === null ? null : answerOfBefore(job, current);
  if (before !== null) return before;
  return (await mayFollow(job, current)) ? addVersion(job, current, staging) : { kind: "foreign" };
}

/** Judged here as well, because a version that came meanwhile was not judged by the caller; its number is then ours to lose. */
async function mayFollow({ path, request }: Put, current: PrintedInventory | null): Promise<boolean> {
  if (current === null || headNumber(current.inventory) <= request.judged) return true;
  const belongs = await belongingOf(path, current.inventory);
  return belongs !== null && mayChange(request.writer, belongs);
}

/** The answer this job got when it was stored, if it was. */
function answerOfBefore(job: Put, current: PrintedInventory): StoreResult | null {
  const number = versionOfJob(current.inventory, job.request.job);
  if (number === null) return null;
  if (holdsProducerFiles(current.inventory, number, job.request.files)) return stored(job, number);
  return { kind: "refused", message: `${job.request.job} is stored as version ${number} with other content` };
}

async function addVersion(job: Put, current: PrintedInventory | null, staging: string): Promise<StoreResult | "taken"> {
  const planned = planVersion(current?.inventory ?? null, job.request);
  if (!planned.ok) return { kind: "refused", message: planned.why };
  const { plan } = planned;
  await job.ctx.checkpoint("storeBegun");
  const staged = await stageVersion(staging, plan, printInventory(plan.inventory), job.ctx);
  if (!staged.ok) return { kind: "unavailable", message: staged.why };
  await job.ctx.checkpoint("storeStaged");
  const placed = current === null ? await placeObject(staged, job.path) : await placeVersion(staged, job.path);
  if (!placed) return "taken";
  await job.ctx.checkpoint("midEffect");
  await mendObject(job.path, job.request.ark, staging);
  await job.ctx.checkpoint("storeMended");
  return stored(job, plan.number);
}

const stored = (job: Put, number: number): StoreResult => ({
  kind: "stored",
  version: number,
  manifestUrl: pathToFileURL(join(job.path, versionName(number), INVENTORY_NAME)).href,
  mode: number === 1 ? "add" : "update",
});

const isFileSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  typeof error === "object" && error !== null && "syscall" in error && "code" in error;
