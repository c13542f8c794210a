/** Ends with 0 when every part that the settings name answers, so that the fleet starts behind them. */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const LIMIT_MS = 300_000;
const AGAIN_MS = 500;
const SILENCE_MS = 3_000;

/** What a server says, to `question` or by itself, until it matches; rejects when it does not. */
const hear = ({ host, port }, question, expected) =>
  new Promise((resolve, reject) => {
    let heard = "";
    const socket = connect({ host, port }, () => question !== null && socket.write(question));
    const end = (settle, value) => (socket.destroy(), settle(value));
    socket.setTimeout(SILENCE_MS, () => end(reject, new Error("says nothing")));
    socket.on("data", (bytes) => expected.test((heard += bytes.toString("latin1"))) && end(resolve));
    socket.on("error", (error) => end(reject, error));
    socket.on("close", () => end(reject, new Error(`says ${JSON.stringify(heard.slice(0, 80))}`)));
  });

const fromUrl = (text, port) => {
  const url = new URL(text);
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || port) };
};

/** Any member that has a quorum behind it will do. */
const zookeeper = (servers) => () => Promise.any(servers.map((server) => hear(server, "srvr", /^Mode: /m)));
/** A database and a mail server speak first. */
const speaker = (server, expected) => () => hear(server, null, expected);

const { ZOOKEEPER_CONNECT, INVENTORY_URL, INVENTORY_URL_FILE, MAIL_URL } = process.env;
const inventory = INVENTORY_URL_FILE ? readFileSync(INVENTORY_URL_FILE, "utf8").trim() : (INVENTORY_URL ?? "");
const servers = ZOOKEEPER_CONNECT.split("/")[0]
  .split(",")
  .map((server) => fromUrl(`zk://${server}`));
const parts = [
  { name: "ZooKeeper", answers: zookeeper(servers) },
  ...(/^(mysql|mariadb):/.test(inventory)
    ? [{ name: "the inventory", answers: speaker(fromUrl(inventory, 3306), /./s) }]
    : []),
  ...(/^smtps?:/.test(MAIL_URL ?? "")
    ? [{ name: "the mail server", answers: speaker(fromUrl(MAIL_URL, 25), /^220/) }]
    : []),
];

const deadline = performance.now() + LIMIT_MS;
for (const { name, answers } of parts) {
  for (;;) {
    const problem = await answers().then(
      () => null,
      (error) => error.message,
    );
    if (problem === null) break;
    if (performance.now() > deadline) {
      console.error(`${name} does not answer: ${problem}`);
      process.exit(1);
    }
    await sleep(AGAIN_MS);
  }
  console.log(`${name} answers`);
}
