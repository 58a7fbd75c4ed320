/** Heartbeat addresses: `/beat/<secret>`, and what the part after the secret reports. */
import { hash } from 'node:crypto';
import { type HeartbeatKind, isFailure, MAX_LATENCY_MS } from './heartbeat-body.ts';

/** Maximum length of a stored log, characters; the rest is cut off. */
export const MAX_LOG_LENGTH = 10_000;

/** The line that ends a log of which a part is missing. */
const CUT = '\n[cut]';

/** The signal of a request to a heartbeat address. */
export type AddressSignal =
  | { readonly kind: Exclude<HeartbeatKind, 'fail'> | 'log' }
  /** `exitCode` of the process, never 0; null: not given. */
  | { readonly kind: 'fail'; readonly exitCode: number | null };

/** The hash by which the registry stores the secret of an address: SHA-256, hexadecimal. */
export function hashAddressSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/**
 * Parses the part of a path after the secret: `start`, `fail`, `log` or the exit code of a process, of which 0 is success;
 * an empty part is a heartbeat. Null: it is something else.
 */
export function readAddressSignal(part: string): AddressSignal | null {
  if (part === '' || part === '0') return { kind: 'beat' };
  if (part === 'start' || part === 'log') return { kind: part };
  if (part === 'fail') return { kind: 'fail', exitCode: null };
  const exitCode = /^-?[1-9]\d{0,9}$/.test(part) ? Number(part) : 0;
  return isFailure(exitCode) ? { kind: 'fail', exitCode } : null;
}

/**
 * The text of a body as a log; null: the body is empty. It is in UTF-8, or as PowerShell writes it, in UTF-16 with a byte order mark;
 * what is not, and U+0000, becomes U+FFFD. A log that is too long ends with a line that says so, as does one that is not `isWhole`.
 */
export function readLog(body: Uint8Array, isWhole: boolean): string | null {
  const isWide = body.length > 2 && body[0] === 0xff && body[1] === 0xfe;
  return cutLog(new TextDecoder(isWide ? 'utf-16le' : 'utf-8').decode(body), isWhole);
}

/** A text as a log, by the rules of {@link readLog}. */
export function cutLog(given: string, isWhole = true): string | null {
  const text = given.replaceAll('\0', '\uFFFD').trim();
  if (text.length > MAX_LOG_LENGTH || !isWhole)
    return `${text.slice(0, MAX_LOG_LENGTH - CUT.length)}${CUT}`.toWellFormed();
  return text === '' ? null : text.toWellFormed();
}

/** The value of `ping` as Uptime Kuma reads it: milliseconds, of which fractions are rounded; null: there is no such number. */
export function readPingText(text: string): number | null {
  const ms = Number.parseFloat(text);
  return ms >= 0 ? Math.min(Math.round(ms), MAX_LATENCY_MS) : null;
}
