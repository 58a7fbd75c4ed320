/** The private networks that an operator can open to trusted accounts (`checks.trustedPrivate`), by names and as blocks. */

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

export type PrivateRange = keyof typeof PRIVATE_RANGES;

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
