/**
 * Reads the body of a heartbeat (contract 2.4; decisions, Heartbeats). The text comes from anybody with a key: nothing
 * but own members of plain objects is looked at, and every refusal names the place.
 */

import { readTime } from './durations.ts';
import { findForbidden } from './given-name.ts';
import { readHostName } from './host-name.ts';
import { describeGivenTextProblem, describeHostNameProblem } from './refusal-text.ts';
import { readStatusWord, STATUS_VOCABULARY, type Verdict } from './status.ts';

/** What a service tells: how it is, that a run of its work begins, or that one failed. */
export type HeartbeatKind = 'beat' | 'start' | 'fail';

/** What a service says of one thing that it depends on. */
export interface DependencyReport {
  /** As its owner wrote it, 1 to 64 characters. */
  readonly name: string;
  readonly status: Verdict;
  /** Whole milliseconds, 0 to 600,000; null: not reported. */
  readonly latencyMs: number | null;
}

/** A heartbeat in plain terms. */
export interface HeartbeatReport {
  readonly kind: HeartbeatKind;
  /** Host name in its stored form. */
  readonly domain: string;
  /** What the owner's word comes to; null for a start, which says nothing of how the service is. */
  readonly word: Verdict | null;
  /** The owner's word as it was said; null for a start and for a failed run, which say none. */
  readonly reported: string | null;
  /** When the sender made it, epoch milliseconds; null: it does not say. */
  readonly timestamp: number | null;
  /** In the order of the body; null: it has no `checks`. */
  readonly dependencies: readonly DependencyReport[] | null;
  /** Pairs the start of a run with its end; null: none is named. */
  readonly run: string | null;
}

/** What is wrong with a body, and where. */
export interface HeartbeatProblem {
  /** JSON Pointer (RFC 6901) of the member; empty for the body as a whole. */
  readonly place: string;
  /** For people, what stands behind the place, as in `must be a string`. */
  readonly problem: string;
  /** The allowed values where they can be listed; null: they cannot. */
  readonly allowed: readonly string[] | null;
}

/** A body that was read, or why it was not. */
export type HeartbeatReading =
  | { readonly ok: true; readonly report: HeartbeatReport }
  | ({ readonly ok: false } & HeartbeatProblem);

/** Most entries of `checks` (decisions). */
export const MAX_DEPENDENCIES = 50;
/** Longest name of a dependency and of a run, characters. */
export const MAX_NAME_LENGTH = 64;
/** Largest latency of a dependency, milliseconds. */
export const MAX_LATENCY_MS = 600_000;
/** Every word of the vocabulary, from good to bad. */
export const STATUS_WORDS: readonly string[] = Object.values(STATUS_VOCABULARY).flat();

/** Reads a body. Of two members with one name the last counts, as `JSON.parse` decides; unknown members are ignored. */
export function readHeartbeat(text: string, kind: HeartbeatKind): HeartbeatReading {
  try {
    return { ok: true, report: readReport(parse(text), kind) };
  } catch (thrown) {
    if (thrown instanceof Refusal) return { ok: false, ...thrown.reason };
    throw thrown;
  }
}

class Refusal extends Error {
  readonly reason: HeartbeatProblem;

  constructor(place: string, problem: string, allowed: readonly string[] | null = null) {
    super(problem);
    this.reason = { place, problem, allowed };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal('', 'is not JSON');
  }
}

function readReport(body: unknown, kind: HeartbeatKind): HeartbeatReport {
  if (!isObject(body)) throw new Refusal('', 'must be a JSON object');
  const domain = readDomain(member(body, 'domain'));
  const status = kind === 'beat' ? member(body, 'status') : null;
  const word = kind === 'beat' ? readWord(status, '/status') : kind === 'fail' ? 'down' : null;
  const reported = typeof status === 'string' ? status : null;
  const timestamp = readTimestamp(member(body, 'timestamp'));
  const dependencies = kind === 'start' ? null : readDependencies(member(body, 'checks'));
  return { kind, domain, word, reported, timestamp, dependencies, run: readRun(member(body, 'run')) };
}

function readDomain(value: unknown): string {
  const reading = readHostName(readText(value, '/domain'));
  if (!reading.ok) throw new Refusal('/domain', describeHostNameProblem(reading.problem));
  return reading.domain;
}

function readWord(value: unknown, place: string): Verdict {
  const word = readText(value, place);
  const verdict = readStatusWord(word);
  if (verdict === null) throw new Refusal(place, `is ${quote(word)}, which is not known`, STATUS_WORDS);
  return verdict;
}

function readTimestamp(value: unknown): number | null {
  if (value === undefined) return null;
  const at = readTime(readText(value, '/timestamp'));
  if (at === null)
    throw new Refusal('/timestamp', 'must be an ISO 8601 UTC time, such as 2026-11-20T10:00:00.000Z');
  return at;
}

function readRun(value: unknown): string | null {
  return value === undefined ? null : readName(readText(value, '/run'), '/run');
}

function readDependencies(value: unknown): DependencyReport[] | null {
  if (value === undefined) return null;
  if (!isObject(value)) throw new Refusal('/checks', 'must be an object of {status, latency} by name');
  const entries = Object.entries(value);
  if (entries.length > MAX_DEPENDENCIES)
    throw new Refusal('/checks', `has ${entries.length} entries; at most ${MAX_DEPENDENCIES} are allowed`);
  return entries.map(([name, entry]) => {
    const place = `/checks/${escapePointer(name)}`;
    readName(name, place, 'has a name that ');
    if (!isObject(entry)) throw new Refusal(place, 'must be an object of status and latency');
    const status = readWord(member(entry, 'status'), `${place}/status`);
    return { name, status, latencyMs: readLatency(member(entry, 'latency'), `${place}/latency`) };
  });
}

function readLatency(value: unknown, place: string): number | null {
  if (value === undefined) return null;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_LATENCY_MS)
    throw new Refusal(place, `must be a whole number of milliseconds from 0 to ${MAX_LATENCY_MS}`);
  // Minus zero is a whole number too.
  return value === 0 ? 0 : value;
}

function readText(value: unknown, place: string): string {
  if (value === undefined) throw new Refusal(place, 'is missing');
  if (typeof value !== 'string') throw new Refusal(place, 'must be a string');
  return value;
}

function readName(name: string, place: string, before = ''): string {
  // Half of a surrogate pair is no character: no store and no answer could give it back.
  if (!name.isWellFormed()) throw new Refusal(place, `${before}is not valid Unicode`);
  const found = findForbidden(name);
  const problem = found === null ? null : describeGivenTextProblem(found);
  if (problem !== null) throw new Refusal(place, before === '' ? problem : `${before}${problem}`);
  const { length } = [...name];
  if (length < 1 || length > MAX_NAME_LENGTH)
    throw new Refusal(place, `${before}is ${length} characters long; 1 to ${MAX_NAME_LENGTH} are allowed`);
  return name;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member; what every object inherits is not part of a body. */
function member(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function escapePointer(name: string): string {
  return clip(name.toWellFormed()).replaceAll('~', '~0').replaceAll('/', '~1');
}

function quote(text: string): string {
  return JSON.stringify(clip(text.toWellFormed()));
}

function clip(text: string): string {
  return text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH).toWellFormed()}…` : text;
}
