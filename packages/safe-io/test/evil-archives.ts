/** Containers as a depositor, or an attacker, would make them. */
import { gzipSync, deflateRawSync, crc32 } from "node:zlib";
import { ZipFile } from "yazl";

export interface ZipEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** Unix mode, in the upper half of the external attributes. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  /** What the headers say, where it differs from the truth. */
  readonly says?: { readonly crc32?: number; readonly bytes?: number; readonly packedBytes?: number };
  /** The name in front of the content. */
  readonly localName?: string;
  readonly extra?: Buffer;
  /** Shares the content of an earlier entry instead of having one. */
  readonly contentOf?: number;
}

export interface ZipTricks {
  readonly entryCount?: number;
}

const u16 = (value: number): Buffer => Buffer.from(Uint16Array.of(value).buffer);
const u32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);

interface Placed {
  readonly local: Buffer;
  readonly central: (offset: number) => Buffer;
}

/** A zip with exactly these headers, right or wrong. */
export function zipByHand(entries: readonly ZipEntry[], tricks: ZipTricks = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const entry of entries) {
    const placed = placeEntry(entry);
    const shared = entry.contentOf === undefined ? undefined : offsets[entry.contentOf];
    offsets.push(shared ?? offset);
    directory.push(placed.central(shared ?? offset));
    if (shared !== undefined) continue;
    parts.push(placed.local);
    offset += placed.local.length;
  }
  const central = Buffer.concat(directory);
  const count = tricks.entryCount ?? entries.length;
  const end = [u32(0x06054b50), u16(0), u16(0), u16(count), u16(count), u32(central.length), u32(offset), u16(0)];
  return Buffer.concat([...parts, central, ...end]);
}

function placeEntry(entry: ZipEntry): Placed {
  const { method = 8, flags = 0, mode = 0o100644, says = {}, extra = Buffer.alloc(0) } = entry;
  const raw = Buffer.from(entry.content ?? "");
  const data = method === 8 ? deflateRawSync(raw) : raw;
  const name = Buffer.from(entry.name);
  const localName = Buffer.from(entry.localName ?? entry.name);
  const facts = Buffer.concat([
    u16(20),
    u16(flags),
    u16(method),
    u32(0),
    u32(says.crc32 ?? crc32(raw)),
    u32(says.packedBytes ?? data.length),
    u32(says.bytes ?? raw.length),
  ]);
  return {
    local: Buffer.concat([u32(0x04034b50), facts, u16(localName.length), u16(0), localName, data]),
    central: (offset) =>
      Buffer.concat([
        ...[u32(0x02014b50), u16((3 << 8) | 20), facts, u16(name.length), u16(extra.length), u16(0), u16(0), u16(0)],
        ...[u32((mode << 16) >>> 0), u32(offset), name, extra],
      ]),
  };
}

/** A zip as an honest packer makes it. */
export async function honestZip(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export interface TarEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** The type flag: "0" file, "1" hard link, "2" symbolic link, "3" device, "5" folder, "x" extended header… */
  readonly type?: string;
  readonly linkName?: string;
  /** What the header says, where it differs from the truth. */
  readonly saysBytes?: number;
  readonly wrongSum?: boolean;
}

/** A tar with exactly these headers, right or wrong; `end: false` leaves out the end mark. */
export function tarByHand(entries: readonly TarEntry[], { end = true } = {}): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? "");
    return [tarHeader(entry, content.length), content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat(end ? [...blocks, Buffer.alloc(1_024)] : blocks);
}

function tarHeader({ name, type = "0", linkName = "", saysBytes, wrongSum = false }: TarEntry, bytes: number): Buffer {
  const header = Buffer.alloc(512);
  Buffer.from(name).copy(header, 0);
  header.write("0000644\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${(saysBytes ?? bytes).toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write(type, 156);
  header.write(linkName, 157);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0) + (wrongSum ? 1 : 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

/** The extended header that gives the next entry its name. */
export function paxName(name: string | Buffer): TarEntry {
  const body = Buffer.concat([Buffer.from(" path="), Buffer.from(name), Buffer.from("\n")]);
  const length = [1, 2, 3, 4].map((digits) => body.length + digits).find((all, i) => String(all).length === i + 1);
  return { name: "PaxHeader", type: "x", content: Buffer.concat([Buffer.from(String(length)), body]) };
}

export const tarGz = (entries: readonly TarEntry[]): Buffer => gzipSync(tarByHand(entries));
