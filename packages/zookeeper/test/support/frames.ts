import { JuteWriter } from "../../src/wire/jute.ts";

/** Frames as a server would send them. */
export function replyFrame(xid: number, err: number): Buffer {
  const writer = new JuteWriter(32);
  writer.int(0);
  writer.int(xid);
  writer.long(0n);
  writer.int(err);
  return writer.finishFrame();
}

export function watchEventFrame(kind: number, path: string): Buffer {
  const writer = new JuteWriter(64);
  writer.int(0);
  writer.int(-1);
  writer.long(-1n);
  writer.int(0);
  writer.int(kind);
  writer.int(3);
  writer.text(path);
  return writer.finishFrame();
}
