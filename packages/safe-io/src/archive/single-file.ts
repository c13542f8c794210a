import type { Budget } from "./limits.ts";
import { damaged, storeEntry, type Unpacking } from "./store-entry.ts";
import { bareName } from "./kind.ts";

/** Makes a file of what was compressed without a container around it. Throws an IoError. */
export async function storeSingleFile(
  content: AsyncIterable<Uint8Array>,
  containerName: string,
  budget: Budget,
  unpacking: Unpacking,
): Promise<void> {
  const name = bareName(containerName);
  if (name === undefined)
    throw damaged("", "it is compressed, but there is no tar in it, nor is it called .gz or .bz2");
  budget.entry(name);
  await storeEntry(unpacking, name, counted(content, name, budget), {});
}

async function* counted(content: AsyncIterable<Uint8Array>, name: string, budget: Budget): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    budget.bytes(name, chunk.byteLength);
    yield chunk;
  }
}
