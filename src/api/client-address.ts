/** Who a client is to the limits: its address, by /64 for IPv6 (decisions, Keys and limits). */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Names the client of a request, as `203.0.113.7` or `2001:db8:0:1::/64`. */
export type NameClient = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string;

/** Addresses whose names are remembered; parsing costs more than the look-up. */
const REMEMBERED = 10_000;

/**
 * Makes the function. `trustedProxies` are addresses or CIDR blocks whose `X-Forwarded-For` is believed: the client is
 * then the right-most address in it that is no trusted proxy. Throws where one of them cannot be read.
 */
export function createNameClient(trustedProxies: readonly string[]): NameClient {
  const blocks = trustedProxies.map(readBlock);
  const direct = new Map<string, { readonly name: string; readonly trusted: boolean }>();
  const isTrusted = (address: Address) => blocks.some((block) => isWithin(address, block));

  const judge = (text: string) => {
    const known = direct.get(text);
    if (known !== undefined) return known;
    const address = readAddress(text);
    const judged =
      address === null
        ? { name: 'unknown', trusted: false }
        : { name: nameOf(address), trusted: isTrusted(address) };
    if (direct.size >= REMEMBERED) direct.clear();
    direct.set(text, judged);
    return judged;
  };

  return ({ headers, socket }) => {
    const peer = judge(socket.remoteAddress ?? '');
    const forwarded = headers['x-forwarded-for'];
    if (!peer.trusted || forwarded === undefined) return peer.name;
    let { name } = peer;
    for (const entry of String(forwarded).split(',').reverse()) {
      const hop = readAddress(entry);
      // What stands left of something unreadable was not vouched for by anybody we trust.
      if (hop === null) break;
      name = nameOf(hop);
      if (!isTrusted(hop)) break;
    }
    return name;
  };
}

/** An address in any form that proxies write: with a port, in brackets, with a zone; null: none. */
function readAddress(text: string): Address | null {
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '');
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return null;
  return ipaddr.process(bare);
}

function nameOf(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString();
  const parts = (address as ipaddr.IPv6).parts.map((part, index) => (index < 4 ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/64`;
}

function readBlock(text: string): [Address, number] {
  if (text.includes('/')) {
    const [base, bits] = ipaddr.parseCIDR(text);
    if (base.kind() === 'ipv6' && (base as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96)
      return [(base as ipaddr.IPv6).toIPv4Address(), bits - 96];
    return [base, bits];
  }
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function isWithin(address: Address, [base, bits]: [Address, number]): boolean {
  return address.kind() === base.kind() && address.match([base, bits] as never);
}
