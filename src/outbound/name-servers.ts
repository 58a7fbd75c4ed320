/** Which name servers are asked: those of the settings, or the system's as they are now. */
import { Resolver } from 'node:dns';
import { isIP } from 'node:net';
import type { Clock } from '../clock.ts';
import type { ServerAddress } from './name-socket.ts';

/** Gives the addresses of the name servers, each `ip` or `ip:port`, in the order of preference. */
export type ServerList = () => readonly string[];

const DNS_PORT = 53;
/** The system's list is read again at most this often: a machine that changes networks changes its name servers. */
const READ_AGAIN_MS = 5000;

/**
 * The servers of the settings, or the system's, which Node.js reads from `/etc/resolv.conf` or its equal on other
 * systems. Throws where one of the settings is no `ip` or `ip:port`.
 */
export function createServerList(
  nameservers: readonly string[],
  clock: Clock,
  systemServers: () => readonly string[] = readSystemServers,
): ServerList {
  for (const text of nameservers) readServer(text);
  if (nameservers.length > 0) return () => nameservers;
  let servers = systemServers();
  let readAt = clock.monotonic();
  return () => {
    if (clock.monotonic() - readAt >= READ_AGAIN_MS) {
      readAt = clock.monotonic();
      servers = systemServers();
    }
    return servers;
  };
}

/** Reads `1.2.3.4`, `1.2.3.4:53`, `::1` and `[::1]:53`. Throws where it is none of them. */
export function readServer(text: string): ServerAddress {
  if (isIP(text) !== 0) return { host: text, port: DNS_PORT };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const number = port === undefined ? DNS_PORT : Number(port);
  if (isIP(host) === 0 || number < 1 || number > 65_535) {
    throw new RangeError(`${text} is no name server: an address is expected, or an address and a port`);
  }
  return { host, port: number };
}

function readSystemServers(): readonly string[] {
  return new Resolver().getServers();
}
