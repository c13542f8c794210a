/** The asking side of a connection between two job-apis, without a router behind it. */
import { later } from "@sluice/testkit";
import { systemClock } from "@sluice/zookeeper";
import { Peers } from "../../src/peer/peers.ts";

export const SECRET = "a secret of the test";
export const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

export const askingPeers = (timer: typeof later = later): Peers =>
  new Peers({
    apiId: "asker",
    later: timer,
    log: silent,
    clock: systemClock,
    secret: SECRET,
    isOver: () => false,
    depose: () => undefined,
    onTypes: () => undefined,
    onUp: () => undefined,
    onDown: () => undefined,
  });
