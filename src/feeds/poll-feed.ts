/** One poll of a feed: each of its documents is asked for with the validators of the last time, and read if it is new. */

import { createHash } from 'node:crypto';
import { describeCause } from '../domain/failure-text.ts';
import type { AddressPolicy } from '../outbound/address-guard.ts';
import type { Outbound, OutboundResponse } from '../outbound/outbound.ts';
import { readRetryAfter } from '../outbound/response-head.ts';
import type { DocumentMemory, FeedMemory } from './feed-actor.ts';
import { type FeedAddress, FeedFormatError, type FeedReading } from './feed-kind.ts';

/** Most bytes of a document. */
const MAX_DOCUMENT_BYTES = 2 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const REDIRECTS = 3;
const ACCEPT =
  'application/json, application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.5';

/** A document that says something new. */
export interface NewReading extends FeedReading {
  readonly document: string;
}

/** What came of a poll. */
export interface PollOutcome {
  readonly readings: readonly NewReading[];
  readonly memory: FeedMemory;
  /** Why the poll counts as failed, one line; null: it went well. */
  readonly problem: string | null;
  readonly retryAfterMs: number | null;
}

/** What a poll needs. */
export interface PollParts {
  readonly outbound: Pick<Outbound, 'request'>;
  readonly policy: AddressPolicy;
  /**
   * Waits for its turn at a host, so that no host sees two requests at a time. A poll that has begun (`isContinued`)
   * does not wait for those that have not: what it has read stays in memory until it ends.
   */
  readonly inTurn: <T>(host: string, task: () => Promise<T>, isContinued: boolean) => Promise<T>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Asks for each document in turn. Rejects only where `signal` ends it. */
export async function pollFeed(
  addresses: readonly FeedAddress[],
  memory: FeedMemory,
  parts: PollParts,
): Promise<PollOutcome> {
  const readings: NewReading[] = [];
  const next: Record<string, DocumentMemory> = {};
  let problem: string | null = null;
  let retryAfterMs: number | null = null;
  for (const [index, address] of addresses.entries()) {
    const known = memory[address.name] ?? null;
    if (known !== null) next[address.name] = known;
    const { hostname, host } = new URL(address.url);
    const response = await parts.inTurn(host, () => ask(address.url, known, parts), index > 0);
    const { status, fault, headers, body } = response;
    if (status === 304 && known !== null) continue;
    // Not every page of a kind has each of its further documents.
    if (index > 0 && (status === 404 || status === 410)) continue;
    if (fault !== null || status !== 200 || body === null) {
      problem ??=
        fault === null
          ? `${hostname} answered with HTTP ${status}`
          : `${hostname}: ${describeCause(fault.failure)}`;
      retryAfterMs ??= readRetryAfter(headers['retry-after'], parts.now());
      // A host that is in trouble is not asked for the rest.
      break;
    }
    try {
      const outcome = readDocument(address, response, body, known, parts.now());
      next[address.name] = outcome.memory;
      if (outcome.reading !== null) readings.push({ ...outcome.reading, document: address.name });
    } catch (error) {
      problem ??= `${hostname}: ${describe(error)}`;
    }
  }
  return { readings, memory: next, problem, retryAfterMs };
}

async function ask(url: string, known: DocumentMemory | null, parts: PollParts): Promise<OutboundResponse> {
  const headers: Record<string, string> = { accept: ACCEPT };
  if (known?.etag != null) headers['if-none-match'] = known.etag;
  if (known?.lastModified != null) headers['if-modified-since'] = known.lastModified;
  return await parts.outbound.request({
    url,
    headers,
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_DOCUMENT_BYTES,
    policy: parts.policy,
    redirects: REDIRECTS,
    signal: parts.signal,
  });
}

function readDocument(
  address: FeedAddress,
  { headers }: OutboundResponse,
  body: Buffer,
  known: DocumentMemory | null,
  now: number,
): { readonly memory: DocumentMemory; readonly reading: FeedReading | null } {
  const validators = {
    etag: readHeader(headers.etag),
    lastModified: readHeader(headers['last-modified']),
    bodyDigest: digest(body),
  };
  if (known?.bodyDigest === validators.bodyDigest)
    return { memory: { ...validators, readingDigest: known.readingDigest }, reading: null };
  const contentType =
    (readHeader(headers['content-type']) ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const reading = address.read({ body, contentType }, now);
  const readingDigest = digest(JSON.stringify(reading));
  return {
    memory: { ...validators, readingDigest },
    reading: known?.readingDigest === readingDigest ? null : reading,
  };
}

/** Validators longer than this are no validators; they would be sent again at every poll. */
const MAX_VALIDATOR = 1_000;

function readHeader(value: string | readonly string[] | undefined): string | null {
  const text = typeof value === 'string' ? value : value?.[0];
  return text === undefined || text === '' || text.length > MAX_VALIDATOR ? null : text;
}

function digest(content: string | Uint8Array): string {
  return createHash('sha1').update(content).digest('base64');
}

/** A reader's own errors speak of the document; any other one is a fault of the reader, named with its place. */
function describe(error: unknown): string {
  if (error instanceof FeedFormatError) return error.message;
  const place = error instanceof Error ? (error.stack?.split('\n')[1]?.trim() ?? '') : '';
  return `the reader failed: ${error instanceof Error ? error.message : String(error)} ${place}`.trim();
}
