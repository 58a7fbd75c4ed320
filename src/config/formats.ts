/** The forms of text that settings take, each with the sentence that tells what to write instead. */
import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseDuration } from '../domain/durations.ts';

/** A form: whether a text has it, and what to say where it has not. */
export interface TextFormat {
  readonly accepts: (text: string) => boolean;
  readonly expected: string;
}

/** All forms, by the name that the schema uses. */
export const FORMATS: Readonly<Record<string, TextFormat>> = {
  duration: {
    accepts: (text) => parseDuration(text) !== null,
    expected: 'a duration such as 250ms, 10s, 5m, 2h, 90d or 2y',
  },
  block: {
    accepts: (text) => isIP(text) !== 0 || ipaddr.isValidCIDR(text),
    expected: 'an address or a CIDR block such as 10.0.0.0/8 or fd00::/8',
  },
  'ip-port': {
    accepts: (text) => readIpPort(text) !== null,
    expected: 'an address, with a port if it is not 53, such as 9.9.9.9 or 127.0.0.1:5353 or [::1]:5353',
  },
  'http-url': {
    accepts: (text) => hasScheme(text, ['http:', 'https:']),
    expected: 'an address that begins with http:// or https://',
  },
  'redis-url': {
    accepts: (text) => hasScheme(text, ['redis:', 'rediss:']),
    expected: 'an address that begins with redis:// or rediss://',
  },
};

/** Splits `ip`, `ip:port` or `[ip]:port`; null: it is none of them. */
export function readIpPort(text: string): { readonly address: string; readonly port: number } | null {
  const match = /^(?:\[([^\]]+)\]|([^:]+)|(.+:.*:.*?))(?::(\d{1,5}))?$/.exec(text);
  const address = isIPv6(text) ? text : (match?.[1] ?? match?.[2] ?? '');
  const port = isIPv6(text) ? 53 : Number(match?.[4] ?? 53);
  return isIP(address) !== 0 && port >= 1 && port <= 65_535 ? { address, port } : null;
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol);
}
