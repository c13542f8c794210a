import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8);
LOOPBACK.addAddress("::1", "ipv6");

/** Addresses only: a name such as 127.example.org may lead anywhere. `::ffff:127.0.0.1` is how IPv6 sockets show 127.0.0.1. */
export function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && LOOPBACK.check(address, family === 6 ? "ipv6" : "ipv4");
}

/** For hosts of settings: `localhost` is the one name that means this machine by definition (RFC 6761). */
export const isThisMachine = (host: string): boolean => host === "localhost" || isLoopback(host);
