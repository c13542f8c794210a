import { lookup } from "node:dns/promises";
import { isIP, type Socket } from "node:net";
import { rootCertificates } from "node:tls";

import ipaddr from "ipaddr.js";
import { buildConnector } from "undici";

import { IoError } from "../outcome.ts";
import { type Destination, type EgressPolicy, refusalOf } from "./policy.ts";

/** All addresses of a host name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

export interface ConnectorConfig {
  readonly policy: EgressPolicy;
  readonly resolve: Resolve;
  readonly connectTimeoutMs: number;
  /** Certificates trusted besides the system's, PEM. */
  readonly ca?: string;
}

const ADDRESSES_TRIED = 3;

/**
 * Opens the sockets of every outgoing request. The name is resolved here and the socket goes to that very address, so
 * that a second, different answer of the name server cannot matter; a lookup hook alone would never see literal
 * addresses. Once connected, the other end is checked again.
 */
export function guardedConnector(config: ConnectorConfig): buildConnector.connector {
  const dial = buildConnector({
    timeout: config.connectTimeoutMs,
    autoSelectFamily: false,
    ...(config.ca === undefined ? {} : { ca: [...rootCertificates, config.ca] }),
  });
  return (options, callback) => {
    connectGuarded(options, config, dial).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error as Error, null),
    );
  };
}

async function connectGuarded(
  options: buildConnector.Options,
  config: ConnectorConfig,
  dial: buildConnector.connector,
): Promise<Socket> {
  const port = options.port === "" ? (options.protocol === "https:" ? 443 : 80) : Number(options.port);
  const addresses = await allowedAddresses(options.hostname, port, config);
  let lastError: unknown;
  for (const address of addresses.slice(0, ADDRESSES_TRIED)) {
    try {
      const destination = { address, port, host: options.hostname };
      return checkedPeer(await dialAddress(options, address, dial), destination, config.policy);
    } catch (error) {
      lastError = error;
    }
  }
  throw lastError;
}

async function allowedAddresses(host: string, port: number, config: ConnectorConfig): Promise<readonly string[]> {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  const addresses = isIP(bare) === 0 ? await config.resolve(bare) : [bare];
  const reasons = addresses.map((address) => refusalOf({ address, port, host }, config.policy));
  const allowed = addresses.filter((_address, index) => reasons[index] === undefined);
  if (allowed.length > 0) return allowed;
  throw refused(host, reasons[0] ?? "it has no address");
}

/** `servername` keeps the certificate bound to the name although the socket goes to an address. */
function dialAddress(
  options: buildConnector.Options,
  address: string,
  dial: buildConnector.connector,
): Promise<Socket> {
  const servername = isIP(options.hostname) === 0 && !options.hostname.startsWith("[") ? options.hostname : undefined;
  return new Promise((resolve, reject) => {
    dial({ ...options, hostname: address, ...(servername === undefined ? {} : { servername }) }, (error, socket) => {
      if (error === null) resolve(socket);
      else reject(error);
    });
  });
}

function checkedPeer(socket: Socket, destination: Destination, policy: EgressPolicy): Socket {
  const peer = socket.remoteAddress;
  const reason = peer === undefined ? "the connection is gone" : refusalOf({ ...destination, address: peer }, policy);
  if (peer !== undefined && reason === undefined && sameAddress(peer, destination.address)) return socket;
  socket.destroy();
  throw refused(destination.address, reason ?? "another address answered");
}

const sameAddress = (a: string, b: string): boolean =>
  ipaddr.parse(a).toNormalizedString() === ipaddr.parse(b).toNormalizedString();

const refused = (host: string, reason: string): IoError =>
  new IoError({ code: "EGRESS_REFUSED", message: `${host} is not asked: ${reason}`, retryable: false });
