/*
 * What is said over the wall, from inside: on descriptor 3, both ways, four bytes of length, then JSON. What is needed of the
 * language is taken hold of before any strange code runs, for that code may change everything that can be reached from it.
 */
"use strict";
const { readSync, writeSync } = require("node:fs");

const CHANNEL = 3;
const { parse, stringify } = JSON;
const { apply } = Reflect;
const { from, alloc, allocUnsafe } = Buffer;
const { toString: textOf, readUInt32BE, writeUInt32BE } = Buffer.prototype;
const leave = process.reallyExit.bind(process);

function readExactly(length) {
  const bytes = allocUnsafe(length);
  for (let at = 0; at < length;) {
    const got = readSync(CHANNEL, bytes, at, length - at, null);
    if (got === 0) leave(0);
    at += got;
  }
  return bytes;
}

/* Blocks: nothing that a job left behind runs while no job does. */
function readFrame() {
  const length = apply(readUInt32BE, readExactly(4), [0]);
  return parse(apply(textOf, readExactly(length), ["utf8"]));
}

function writeAll(descriptor, bytes) {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(descriptor, bytes, at, bytes.length - at, null);
    } catch (error) {
      if (error.code !== "EAGAIN") leave(71);
    }
  }
}

function framed(value) {
  const body = from(stringify(value), "utf8");
  const bytes = alloc(4 + body.length);
  apply(writeUInt32BE, bytes, [body.length, 0]);
  body.copy(bytes, 4);
  return bytes;
}

module.exports = {
  readFrame,
  writeAll,
  framed,
  leave,
  say: (value) => writeAll(CHANNEL, framed(value)),
  /* It stands behind everything that the job printed. */
  printMark: (mark) => writeAll(1, from(`\n${mark}\n`, "utf8")),
};
