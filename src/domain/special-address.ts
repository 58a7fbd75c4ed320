/**
 * Addresses that are not public: IANA's special-purpose registries (RFC 6890 and successors) define them, and the metadata
 * services of clouds have more. Also the hosts that everybody can reach, and the private networks that operators open.
 */
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isPrivateName } from './host-name.ts';
import type { Visibility } from './service.ts';

/** An address in canonical form. An IPv4-mapped IPv6 address (`::ffff:a.b.c.d`) is an IPv4 address. */
export interface Address {
  readonly family: 4 | 6;
  readonly text: string;
}

/** IPv4 blocks that are not public, each with its name in messages. */
const IPV4_BLOCKS: readonly (readonly [name: string, block: string])[] = [
  ['this network', '0.0.0.0/8'],
  ['private', '10.0.0.0/8'],
  ['shared by carriers', '100.64.0.0/10'],
  ['loopback', '127.0.0.0/8'],
  ['link-local', '169.254.0.0/16'],
  ['private', '172.16.0.0/12'],
  ['protocol assignments', '192.0.0.0/24'],
  ['documentation', '192.0.2.0/24'],
  ['6to4 relay', '192.88.99.0/24'],
  ['private', '192.168.0.0/16'],
  ['benchmarks', '198.18.0.0/15'],
  ['documentation', '198.51.100.0/24'],
  ['documentation', '203.0.113.0/24'],
  ['multicast', '224.0.0.0/4'],
  ['reserved', '240.0.0.0/4'],
];

/** IPv6 blocks inside 2000::/3 that are not public; everything outside 2000::/3 is not public either. */
const IPV6_BLOCKS: readonly (readonly [name: string, block: string])[] = [
  ['Teredo', '2001::/32'],
  ['protocol assignments', '2001::/23'],
  ['documentation', '2001:db8::/32'],
  ['documentation', '3fff::/20'],
];

/** Addresses of the metadata services of clouds, which return secrets. Some of them are public addresses. */
const METADATA_ADDRESSES = [
  // Amazon and most others; its containers and pods; Scaleway; Tencent; Rancher.
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '169.254.42.42',
  '169.254.0.23',
  '169.254.169.250',
  // Alibaba, Oracle, Azure.
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  // Amazon, its pods, Google, Scaleway.
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:42::42',
];

const metadata = blockListOf(
  // The test of Node.js for IPv6 takes 6 ms at its first call.
  METADATA_ADDRESSES.map((address) => `${address}/${address.includes(':') ? 128 : 32}`),
);
const ipv4Blocks = IPV4_BLOCKS.map(([name, block]) => [name, blockListOf([block])] as const);
const ipv6Blocks = IPV6_BLOCKS.map(([name, block]) => [name, blockListOf([block])] as const);
const anyIpv4Block = blockListOf(IPV4_BLOCKS.map(([, block]) => block));
const globalUnicast = blockListOf(['2000::/3']);

/** Creates a list of CIDR blocks. Throws if one is invalid. */
export function blockListOf(blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [address, bits] = ipaddr.parseCIDR(block);
    list.addSubnet(address.toString(), bits, address.kind());
  }
  return list;
}

/** Parses an address; null: not an address, or one with a zone (`fe80::1%eth0`), which is valid on one machine only. */
export function readAddress(text: string): Address | null {
  const family = isIP(text);
  if (family === 4) return { family, text };
  if (family !== 6 || text.includes('%')) return null;
  // The package parses `::1.2.3.4` as `::ffff:1.2.3.4`, so the last four bytes are passed as two hexadecimal groups.
  const address = ipaddr.IPv6.parse(text.replace(/\d+\.\d+\.\d+\.\d+$/, ipv6Words));
  return address.isIPv4MappedAddress()
    ? { family: 4, text: address.toIPv4Address().toString() }
    : { family: 6, text: address.toString() };
}

/** The name of a cloud's metadata service that answers at this address; null: none does. */
export function metadataPurposeOf(address: Address): string | null {
  if (contains(metadata, address)) return 'cloud metadata';
  if (address.family === 4) return null;
  const carried = carriedIpv4(address.text).some((text) => contains(metadata, { family: 4, text }));
  return carried ? 'cloud metadata inside IPv6' : null;
}

/** The purpose of an address that is not public, in one or two words; null: the address is public. */
export function specialPurposeOf(address: Address): string | null {
  const ofMetadata = metadataPurposeOf(address);
  if (ofMetadata !== null) return ofMetadata;
  if (address.family === 4) {
    if (!contains(anyIpv4Block, address)) return null;
    return ipv4Blocks.find(([, list]) => contains(list, address))?.[0] ?? 'reserved';
  }
  const embedded = embeddedIpv4(address.text);
  if (embedded !== null) {
    const inner = specialPurposeOf({ family: 4, text: embedded });
    return inner === null ? null : `${inner} inside IPv6`;
  }
  if (!contains(globalUnicast, address)) return ipv6Scope(address.text);
  return ipv6Blocks.find(([, list]) => contains(list, address))?.[0] ?? null;
}

/** Returns true if the list contains the address. */
export function contains(list: BlockList, { family, text }: Address): boolean {
  return list.check(text, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * The IPv4 address to which a translator or relay would forward packets for an IPv6 address: NAT64 (RFC 6052), 6to4
 * (RFC 3056) and ISATAP (RFC 5214). Null: it contains none. Forms that are not used on the internet (IPv4-compatible,
 * IPv4-translated, Teredo, local NAT64) are refused as blocks.
 */
export function embeddedIpv4(text: string): string | null {
  const [w0 = 0, w1 = 0, w2 = 0, w3 = 0, w4 = 0, w5 = 0, w6 = 0, w7 = 0] = ipaddr.IPv6.parse(text).parts;
  if (w0 === 0x64 && w1 === 0xff9b && (w2 | w3 | w4 | w5) === 0) return dotted(w6, w7);
  if (w0 === 0x2002) return dotted(w1, w2);
  if ((w4 & 0xfdff) === 0 && w5 === 0x5efe && (w0 & 0xe000) === 0x2000) return dotted(w6, w7);
  return null;
}

/**
 * Every IPv4 address that an IPv6 address may carry: as {@link embeddedIpv4}, in Teredo (RFC 4380), and in its last 32 bits, where all
 * other forms have it, such as a NAT64 of a private network.
 */
function carriedIpv4(text: string): string[] {
  const [w0 = 0, w1 = 0, , , , , w6 = 0, w7 = 0] = ipaddr.IPv6.parse(text).parts;
  const teredo = w0 === 0x2001 && w1 === 0 ? [dotted(w6 ^ 0xffff, w7 ^ 0xffff)] : [];
  return [embeddedIpv4(text) ?? [], teredo, dotted(w6, w7)].flat();
}

function ipv6Words(ipv4: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The purpose of an IPv6 address outside of global unicast. */
function ipv6Scope(text: string): string {
  const range: string = ipaddr.IPv6.parse(text).range();
  const names: Readonly<Record<string, string>> = {
    loopback: 'loopback',
    linkLocal: 'link-local',
    uniqueLocal: 'private',
    multicast: 'multicast',
  };
  return names[range] ?? 'reserved';
}

/** Returns true if a host, a name or an address, can be one that everybody reaches, as far as its text tells. */
export function isPublicHost(host: string): boolean {
  const address = readAddress(host.replace(/^\[(.*)\]$/, '$1'));
  return address === null ? !isPrivateName(host) : specialPurposeOf(address) === null;
}

/** The visibility of a service whose owner has not chosen one: private at a host that is not public. */
export function usualVisibility(host: string): Visibility {
  return isPublicHost(host) ? 'public' : 'private';
}

/** The named ranges, each with its CIDR blocks. */
export const PRIVATE_RANGES = {
  /** RFC 1918. */
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  /** RFC 6598, which carriers use, and networks such as Tailscale. */
  shared: ['100.64.0.0/10'],
  /** RFC 4193. */
  'unique-local': ['fc00::/7'],
  /** This machine. */
  loopback: ['127.0.0.0/8', '::1/128'],
  /** RFC 3927 and RFC 4291. */
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type PrivateRange = keyof typeof PRIVATE_RANGES;

/** Returns true if a word names a range. */
export function isPrivateRange(word: string): word is PrivateRange {
  return Object.hasOwn(PRIVATE_RANGES, word);
}

/** The blocks of ranges, which are names or blocks themselves. */
export function blocksOfRanges(ranges: readonly string[]): string[] {
  return ranges.flatMap((range): readonly string[] =>
    isPrivateRange(range) ? PRIVATE_RANGES[range] : [range],
  );
}
