/** Filesets: files under a name, of a tenant; in a folder, or behind HTTP as tar files. */
import { ContainedFolder, type Egress, type Outcome } from "@sluice/safe-io";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { entriesOf, type FileEntry, packed, wholeOf } from "./tape.ts";

export interface Filesets {
  /** In the order of their names. Throws, with words for the tenant, when there is none. */
  read(tenant: string, name: string): AsyncIterable<FileEntry>;
  /** All of it, in place of what was there. */
  write(tenant: string, name: string, files: AsyncIterable<FileEntry>): Promise<void>;
}

const HTTP_BYTES = 64 * 1024 * 1024;

export function openFilesets(url: string, egress: Pick<Egress, "get" | "post">): Filesets {
  if (/^https?:/.test(url)) return httpFilesets(url.replace(/(?<!\/)\/+$/, ""), egress);
  return folderFilesets(url.startsWith("file:") ? fileURLToPath(url) : url);
}

function folderFilesets(root: string): Filesets {
  const of = async (tenant: string): Promise<ContainedFolder> =>
    known(await known(await ContainedFolder.open(root)).sub(tenant));
  return {
    async *read(tenant, name) {
      const folder = await of(tenant);
      if (!(await has(folder, name))) throw new Error(`there is no fileset ${name}`);
      const set = known(await folder.sub(name));
      for (const file of known(await set.files())) {
        yield { name: file.name, bytes: file.bytes, body: known(await set.readStream(file.name)) };
      }
    },
    async write(tenant, name, files) {
      const folder = await of(tenant);
      const part = `${name}.${randomUUID()}`;
      const set = known(await folder.sub(part));
      try {
        for await (const file of files) await store(set, file);
      } catch (error) {
        await folder.remove(part);
        throw error;
      }
      known(await folder.remove(name));
      known(await folder.move(part, folder, name));
    },
  };
}

async function has(folder: ContainedFolder, name: string): Promise<boolean> {
  const path = known(folder.pathOf(name));
  const { stat } = await import("node:fs/promises");
  return stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}

async function store(set: ContainedFolder, { name, body }: FileEntry): Promise<void> {
  const file = known(await set.begin(name));
  try {
    for await (const chunk of body) await file.handle.writeFile(chunk);
  } catch (error) {
    await file.abandon();
    throw error;
  }
  known(await file.finish());
}

function httpFilesets(base: string, egress: Pick<Egress, "get" | "post">): Filesets {
  const urlOf = (tenant: string, name: string): string => `${base}/${tenant}/${name}.tar`;
  return {
    async *read(tenant, name) {
      const answer = known(await egress.get(urlOf(tenant, name)));
      yield* entriesOf(answer.body);
    },
    async write(tenant, name, files) {
      const body = await wholeOf(packed(files), HTTP_BYTES);
      const answer = known(
        await egress.post(urlOf(tenant, name), { method: "PUT", contentType: "application/x-tar", body }),
      );
      answer.discard();
    },
  };
}

function known<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(outcome.error.message);
}
