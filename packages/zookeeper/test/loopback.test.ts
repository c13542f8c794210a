import { expect, test } from "@jest/globals";
import { isLoopback, isThisMachine } from "../src/index.ts";

const ADDRESSES = ["127.0.0.1", "127.255.0.9", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"];
const OTHERS = [
  "127.example.org",
  "127.0.0.1.example.org",
  "127.1",
  "0.0.0.0",
  "::",
  "10.0.0.1",
  "::ffff:10.0.0.1",
  "",
];

test("loopback is a matter of addresses: no name counts", () => {
  expect(ADDRESSES.filter((address) => !isLoopback(address))).toEqual([]);
  expect([...OTHERS, "localhost"].filter(isLoopback)).toEqual([]);
});

test("of names, localhost alone is this machine", () => {
  expect(["localhost", ...ADDRESSES].filter((host) => !isThisMachine(host))).toEqual([]);
  expect([...OTHERS, "localhost.example.org"].filter(isThisMachine)).toEqual([]);
});
