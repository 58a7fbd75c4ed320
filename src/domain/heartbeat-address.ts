/** Heartbeat addresses: `/beat/<secret>`, and what the part after the secret reports. */
import { hash } from 'node:crypto';
import { type HeartbeatKind, MAX_EXIT_CODE } from './heartbeat-body.ts';

/** Maximum length of a stored log, characters; the rest is cut off. */
export const MAX_LOG_LENGTH = 10_000;

/** What a request to a heartbeat address reports. */
export type AddressSignal =
  | { readonly kind: Exclude<HeartbeatKind, 'fail'> | 'log' }
  /** `exitCode` of the process, 1 to 255; null: not given. */
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
  const exitCode = /^[1-9]\d{0,2}$/.test(part) ? Number(part) : null;
  return exitCode === null || exitCode > MAX_EXIT_CODE ? null : { kind: 'fail', exitCode };
}

/** The text of a body as a log; null: the body is empty. What is not UTF-8, and U+0000, becomes U+FFFD. */
export function readLog(body: Uint8Array): string | null {
  const text = new TextDecoder().decode(body).replaceAll('\0', '\uFFFD').trim();
  return text === '' ? null : text.slice(0, MAX_LOG_LENGTH).toWellFormed();
}
