/**
 * Loaded before a process's own code: while the file FULL_DISK_FLAG is there, nothing more can be written below
 * FULL_DISK_UNDER. What is there already can be read, and room is there again as soon as the file is gone.
 */
import fs from "node:fs";
import fsp from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const { FULL_DISK_FLAG: flag, FULL_DISK_UNDER: under } = process.env;

const refuseIfFull = (path) => {
  if (!String(path).startsWith(under) || !fs.existsSync(flag)) return;
  const error = new Error("ENOSPC: no space left on device");
  throw Object.assign(error, { code: "ENOSPC", errno: -28, path: String(path) });
};

for (const name of ["writeFile", "appendFile", "mkdir", "copyFile"]) {
  const original = fsp[name];
  fsp[name] = async (path, ...rest) => {
    refuseIfFull(name === "copyFile" ? rest[0] : path);
    return original(path, ...rest);
  };
}

const open = fsp.open;
fsp.open = async (path, flags, ...rest) => {
  // A new file needs an entry in its folder.
  if (typeof flags === "string" && /[wa]/u.test(flags) && !fs.existsSync(path)) refuseIfFull(path);
  const handle = await open(path, flags, ...rest);
  for (const name of ["write", "writev", "writeFile", "appendFile"]) {
    const original = handle[name].bind(handle);
    handle[name] = async (...args) => {
      refuseIfFull(path);
      return original(...args);
    };
  }
  return handle;
};

syncBuiltinESMExports();
