/* Instead of the harness: code that nothing inside the process holds back. It tries what a hole in the language would give. */
"use strict";
const fs = require("node:fs");
const net = require("node:net");
const { spawnSync } = require("node:child_process");

function frame(value) {
  const body = Buffer.from(JSON.stringify(value));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  fs.writeSync(3, Buffer.concat([head, body]));
}
function read(length) {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length;) at += fs.readSync(3, bytes, at, length - at, null) || process.exit(0);
  return bytes;
}
const next = () => JSON.parse(read(read(4).readUInt32BE()).toString());
const codeOf = (act) => {
  try {
    return act() ?? "done";
  } catch (error) {
    return error.code;
  }
};
const connected = (port, host) =>
  new Promise((resolve) => {
    const socket = net.connect(port, host);
    socket.on("connect", () => resolve("connected"));
    socket.on("error", (error) => resolve(error.code));
  });

(async () => {
  frame({ kind: "ready" });
  for (;;) {
    const asked = next();
    if (asked.kind !== "job") {
      frame({ kind: "done" });
      continue;
    }
    const { host, port, pid } = JSON.parse(asked.payload);
    const result = {
      root: fs.readdirSync("/"),
      passwd: codeOf(() => fs.readFileSync("/etc/passwd", "utf8")),
      environment: Object.keys(process.env),
      zookeeper: await connected(port, host),
      kill: codeOf(() => process.kill(pid, 0)),
      spawn: spawnSync("/bin/sh", ["-c", "id"]).error?.code ?? "spawned",
      pid: process.pid,
      write: codeOf(() => fs.writeFileSync("/evil", "x")),
    };
    fs.writeSync(1, `\n${asked.mark}\n`);
    frame({ kind: "ended", job: asked.job.id, exit: 200, result: JSON.stringify(result), leftovers: false });
  }
})();
