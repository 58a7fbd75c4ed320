/** One poll of a feed: requests each document with the validators of the last poll, and parses it if it has changed. */
import { createHash } from 'node:crypto';
import { describeCause } from '../domain/failure.ts';
import { messageOf } from '../error.ts';
import type { AddressPolicy } from '../outbound/address-guard.ts';
import type { OutboundResponse, Requests } from '../outbound/outbound.ts';
import { readRetryAfter } from '../outbound/response-head.ts';
import { type FeedReading, readFeedDocument } from './build-entry.ts';
import type { DocumentMemory, FeedMemory } from './feed-actor.ts';
import { type FeedAddress, FeedFormatError } from './feed-kind.ts';

const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;
/** Longer validators are ignored, since every poll would send them again. */
const MAX_VALIDATOR_LENGTH = 1_000;
const TIMEOUT_MS = 30_000;
const MAX_REDIRECTS = 3;
const ACCEPT =
  'application/json, application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.5';

export type PollOutcome = Awaited<ReturnType<typeof pollFeed>>;

export interface PollParts {
  readonly outbound: Requests;
  readonly policy: AddressPolicy;
  /**
   * Limits the requests to one per host at a time. A poll that has begun (`isContinued`) precedes those that have not,
   * since its readings stay in memory until it ends.
   */
  readonly inTurn: <T>(host: string, task: () => Promise<T>, isContinued: boolean) => Promise<T>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Requests the documents one after the other. Rejects only when `signal` aborts it. */
export async function pollFeed(addresses: readonly FeedAddress[], memory: FeedMemory, parts: PollParts) {
  /** Documents whose entries differ from those of the last poll. */
  const readings: (FeedReading & { readonly document: string })[] = [];
  const next: Record<string, DocumentMemory> = {};
  /** Why the poll failed, one line; null: it succeeded. */
  let problem: string | null = null;
  /** The server's `Retry-After`, milliseconds; null: it sent none. */
  let retryAfterMs: number | null = null;
  /** The documents are read with each other. */
  const isJoined = addresses.some(({ isReference }) => isReference === true);
  for (const [index, address] of addresses.entries()) {
    const known = memory[address.name] ?? null;
    if (known !== null) next[address.name] = known;
    const { hostname, host } = new URL(address.url);
    const response = await parts.inTurn(
      host,
      () => request(address.url, isJoined ? null : known, parts),
      index > 0,
    );
    const { status, fault, headers, body } = response;
    if (status === 304 && known !== null) continue;
    // A page may lack the documents after the first.
    if (index > 0 && address.isReference !== true && (status === 404 || status === 410)) continue;
    if (address.isOptional === true && status !== 200) continue;
    if (fault !== null || status !== 200 || body === null) {
      problem ??=
        fault === null
          ? `${hostname} answered with HTTP ${status}`
          : `${hostname}: ${describeCause(fault.failure)}`;
      retryAfterMs ??= readRetryAfter(headers['retry-after'], parts.now());
      // The rest is not requested from a host in trouble.
      break;
    }
    try {
      const outcome = readDocument(address, { headers, body }, { known, isJoined }, parts.now());
      next[address.name] = outcome.memory;
      if (outcome.reading !== null && address.isReference !== true)
        readings.push({ ...outcome.reading, document: address.name });
    } catch (error) {
      if (address.isOptional !== true || !(error instanceof FeedFormatError))
        problem ??= `${hostname}: ${describeError(error)}`;
      // Without what they refer to, entries would be misread.
      if (address.isReference === true && address.isOptional !== true) break;
    }
  }
  return { readings, memory: next, problem, retryAfterMs };
}

async function request(
  url: string,
  known: DocumentMemory | null,
  parts: PollParts,
): Promise<OutboundResponse> {
  const headers: Record<string, string> = { accept: ACCEPT };
  if (known?.etag != null) headers['if-none-match'] = known.etag;
  if (known?.lastModified != null) headers['if-modified-since'] = known.lastModified;
  return await parts.outbound.request({
    url,
    headers,
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_DOCUMENT_BYTES,
    policy: parts.policy,
    redirects: MAX_REDIRECTS,
    signal: parts.signal,
  });
}

function readDocument(
  address: FeedAddress,
  { headers, body }: Pick<OutboundResponse, 'headers'> & { readonly body: Buffer },
  { known, isJoined }: { readonly known: DocumentMemory | null; readonly isJoined: boolean },
  now: number,
): { readonly memory: DocumentMemory; readonly reading: FeedReading | null } {
  const validators = {
    etag: readHeader(headers.etag),
    lastModified: readHeader(headers['last-modified']),
    bodyDigest: digest(body),
  };
  if (!isJoined && known?.bodyDigest === validators.bodyDigest)
    return { memory: { ...validators, readingDigest: known.readingDigest }, reading: null };
  const reading = readFeedDocument(address, body, now);
  const readingDigest = digest(JSON.stringify(reading));
  return {
    memory: { ...validators, readingDigest },
    reading: known?.readingDigest === readingDigest ? null : reading,
  };
}

function readHeader(value: string | readonly string[] | undefined): string | null {
  const text = typeof value === 'string' ? value : value?.[0];
  return text === undefined || text === '' || text.length > MAX_VALIDATOR_LENGTH ? null : text;
}

function digest(content: string | Uint8Array): string {
  return createHash('sha1').update(content).digest('base64');
}

/** A FeedFormatError describes the document. Any other error is a fault of the parser, so its place is named. */
function describeError(error: unknown): string {
  if (error instanceof FeedFormatError) return error.message;
  const place = error instanceof Error ? (error.stack?.split('\n')[1]?.trim() ?? '') : '';
  return `the reader failed: ${messageOf(error)} ${place}`.trim();
}
