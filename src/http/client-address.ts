/**
 * The client of a request for rate limits: an IPv4 address, or the /64 of an IPv6 address. `X-Forwarded-For` is used
 * only if a trusted proxy sent it. The client is then its right-most address that is not a trusted proxy (decisions,
 * Keys and limits).
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Creates the function that determines the client from the socket's address and the `X-Forwarded-For` header.
 * `trustedProxies` are addresses or CIDR blocks. Throws for anything else.
 */
export function createClientReader(trustedProxies: readonly string[]) {
  const blocks = parseBlocks(trustedProxies);
  const isTrusted = (address: Address) => isInBlocks(address, blocks);

  return (remoteAddress: string | undefined, forwardedFor: string | undefined): string => {
    if (blocks.length === 0 && remoteAddress !== undefined && !remoteAddress.includes(':'))
      return remoteAddress;
    let client = parse(remoteAddress ?? '');
    if (client === null) return 'unknown';
    const hops = forwardedFor?.split(',') ?? [];
    while (hops.length > 0 && isTrusted(client)) {
      const hop = parse((hops.pop() ?? '').trim());
      // A trusted proxy may forward any text; the last valid address counts.
      if (hop === null) break;
      client = hop;
    }
    return countedAs(client);
  };
}

/**
 * Creates the function that determines the client of a connection from the socket's address; null: it is a trusted proxy, which
 * connects for many clients. `trustedProxies` as for {@link createClientReader}.
 */
export function createPeerReader(trustedProxies: readonly string[]) {
  const blocks = parseBlocks(trustedProxies);
  return (remoteAddress: string | undefined): string | null => {
    if (blocks.length === 0 && remoteAddress !== undefined && !remoteAddress.includes(':'))
      return remoteAddress;
    const peer = parse(remoteAddress ?? '');
    if (peer === null) return 'unknown';
    return isInBlocks(peer, blocks) ? null : countedAs(peer);
  };
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Block = readonly [base: Address, bits: number];

function parseBlocks(texts: readonly string[]): readonly Block[] {
  return texts.map((text) =>
    ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${isIP(text) === 6 ? 128 : 32}`),
  );
}

function isInBlocks(address: Address, blocks: readonly Block[]): boolean {
  return blocks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/** Parses `ip`, `ip:port` and `[ip]:port`; an IPv4-mapped IPv6 address becomes the IPv4 address. */
function parse(text: string): Address | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const withoutZone = bare.split('%')[0] ?? '';
  return isIP(withoutZone) === 0 ? null : ipaddr.process(withoutZone);
}

function countedAs(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString();
  const [a = 0, b = 0, c = 0, d = 0] = (address as ipaddr.IPv6).parts;
  return `${[a, b, c, d].map((part) => part.toString(16)).join(':')}::/64`;
}

/** Creates counters by client, all 0. */
export function createClientCounts() {
  const counts = new Map<string, number>();
  const of = (client: string) => counts.get(client) ?? 0;
  return {
    of,
    add: (client: string): void => void counts.set(client, of(client) + 1),
    /** Decrements the count of a client, after {@link add}. */
    remove(client: string): void {
      const left = of(client) - 1;
      if (left > 0) counts.set(client, left);
      else counts.delete(client);
    },
  };
}
