/**
 * Parses the body of a heartbeat (contract 2.4; decisions, Heartbeats). The body is untrusted: only own members of plain
 * objects are read, and every refusal names the place.
 */
import { readTime } from '../durations.ts';
import { oneLine } from '../failure.ts';
import { readHostName } from '../host-name.ts';
import { describeGivenTextProblem, describeHostNameProblem } from '../input-problem.ts';
import { findForbidden } from '../printable-text.ts';
import { readStatusWord, STATUS_VOCABULARY, type Verdict } from '../status.ts';

/** The kinds of heartbeats: a status, the start of a run, or its failure. */
export type HeartbeatKind = 'beat' | 'start' | 'fail';

/** A service's report about one of its dependencies. */
export interface DependencyReport {
  /** As its owner wrote it, 1 to 64 characters. */
  readonly name: string;
  readonly status: Verdict;
  /** Whole milliseconds, 0 to 600,000; null: not reported. */
  readonly latencyMs: number | null;
}

export interface HeartbeatReport {
  readonly kind: HeartbeatKind;
  /** Host name as it is stored. */
  readonly domain: string;
  /** The verdict of the status word; null for a start, which has no status. */
  readonly word: Verdict | null;
  /** The status word; null for a start and a failed run, which have none. */
  readonly reported: string | null;
  /** The time at which the sender made it, epoch milliseconds; null: not given. */
  readonly timestamp: number | null;
  /** In the order of the body; null: the body has no `checks`. */
  readonly dependencies: readonly DependencyReport[] | null;
  /** Identifies the run that starts or ends; null: not given. */
  readonly run: string | null;
  /** Exit status of a failed run, from {@link MIN_EXIT_CODE} to {@link MAX_EXIT_CODE}, never 0; absent: not given. */
  readonly exitCode?: number;
  /** The time that the sender's own check took, whole milliseconds up to {@link MAX_LATENCY_MS}; absent: not given. */
  readonly pingMs?: number;
  /** Why the service is down, in the sender's words: one line; absent: not given, or it is not down. */
  readonly message?: string;
  /** The service with the domain that reports; absent: the first one. */
  readonly serviceId?: number;
}

/** The problem of a body, and its place. */
export interface HeartbeatProblem {
  /** JSON Pointer (RFC 6901) of the member; empty for the body as a whole. */
  readonly place: string;
  /** Text after the place, as in `must be a string`. */
  readonly problem: string;
  /** The allowed values; null: they cannot be listed. */
  readonly allowed: readonly string[] | null;
}

/** A parsed body, or why it is refused. */
export type HeartbeatReading =
  | { readonly ok: true; readonly report: HeartbeatReport }
  | ({ readonly ok: false } & HeartbeatProblem);

/** Maximum number of entries of `checks` (decisions). */
export const MAX_DEPENDENCIES = 50;
/** Maximum length of the names of dependencies and runs, characters. */
export const MAX_NAME_LENGTH = 64;
/** Minimum exit status of a process: Windows has 32 bits, which programs show with a sign or without. */
export const MIN_EXIT_CODE = -2_147_483_648;
/** Maximum exit status of a process. */
export const MAX_EXIT_CODE = 4_294_967_295;
/** Maximum latency of a dependency, milliseconds. */
export const MAX_LATENCY_MS = 600_000;
/** Every word of the vocabulary, from good to bad. */
export const STATUS_WORDS: readonly string[] = Object.values(STATUS_VOCABULARY).flat();

/**
 * Parses a body. Of two members with the same name the last one counts, as in `JSON.parse`; unknown members are ignored. `readHost` reads
 * the domain: by default that of a public host; a report of a known service may be of any host.
 */
export function readHeartbeat(text: string, kind: HeartbeatKind, readHost = readHostName): HeartbeatReading {
  try {
    return { ok: true, report: readReport(parse(text), kind, readHost) };
  } catch (thrown) {
    if (thrown instanceof Refusal) return { ok: false, ...thrown.reason };
    throw thrown;
  }
}

/** Members with a meaning that heartbeat addresses write into the bodies that they pass on. */
const ADDRESS_MEMBERS = ['service_id', 'ping', 'message'];

/** The body of a request to the API, which lacks the members of heartbeat addresses: a client that sends them sends unknown ones. */
export function withoutAddressMembers(text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  if (!isObject(body) || !ADDRESS_MEMBERS.some((name) => Object.hasOwn(body, name))) return text;
  return JSON.stringify(
    Object.fromEntries(Object.entries(body).filter(([name]) => !ADDRESS_MEMBERS.includes(name))),
  );
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

function readReport(body: unknown, kind: HeartbeatKind, readHost: typeof readHostName): HeartbeatReport {
  if (!isObject(body)) throw new Refusal('', 'must be a JSON object');
  const domain = readDomain(member(body, 'domain'), readHost);
  const status = kind === 'beat' ? member(body, 'status') : null;
  const word = kind === 'beat' ? readWord(status, '/status') : kind === 'fail' ? 'down' : null;
  const reported = typeof status === 'string' ? status : null;
  const timestamp = readTimestamp(member(body, 'timestamp'));
  const dependencies = kind === 'start' ? null : readDependencies(member(body, 'checks'));
  const run = readRun(member(body, 'run'));
  const exitCode = kind === 'fail' ? readExitCode(member(body, 'exit_code')) : null;
  const pingMs = kind === 'beat' ? readPing(member(body, 'ping')) : null;
  const message = kind === 'beat' && word === 'down' ? readMessage(member(body, 'message')) : null;
  const serviceId = readServiceId(member(body, 'service_id'));
  const report = { kind, domain, word, reported, timestamp, dependencies, run };
  return {
    ...report,
    ...(exitCode === null ? {} : { exitCode }),
    ...(pingMs === null ? {} : { pingMs }),
    ...(message === null ? {} : { message }),
    ...(serviceId === null ? {} : { serviceId }),
  };
}

function readDomain(value: unknown, readHost: typeof readHostName): string {
  const reading = readHost(readText(value, '/domain'));
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

function readExitCode(value: unknown): number | null {
  if (value === undefined) return null;
  if (typeof value !== 'number' || !isFailure(value))
    throw new Refusal(
      '/exit_code',
      `must be a whole number from ${MIN_EXIT_CODE} to ${MAX_EXIT_CODE}, and not 0`,
    );
  return value;
}

/** Returns true if the number is the exit status of a process that failed. */
export function isFailure(exitCode: number): boolean {
  return (
    Number.isInteger(exitCode) && exitCode !== 0 && exitCode >= MIN_EXIT_CODE && exitCode <= MAX_EXIT_CODE
  );
}

/** A member of heartbeat addresses; any other value is ignored. */
function readServiceId(value: unknown): number | null {
  return Number.isSafeInteger(value) ? Number(value) : null;
}

/** As {@link readServiceId}. */
function readPing(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_LATENCY_MS
    ? value
    : null;
}

/** The `msg` of a heartbeat address, as {@link readServiceId}. */
function readMessage(value: unknown): string | null {
  return typeof value === 'string' ? oneLine(value) || null : null;
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
  const problem = refuseName(name);
  if (problem !== null) throw new Refusal(place, `${before}${problem}`);
  return name;
}

/** Returns true if the text can name a run. */
export function isRunName(text: string): boolean {
  return refuseName(text) === null;
}

function refuseName(name: string): string | null {
  // Half of a surrogate pair is no character, and could neither be stored nor returned.
  if (!name.isWellFormed()) return 'is not valid Unicode';
  const found = findForbidden(name);
  const problem = found === null ? null : describeGivenTextProblem(found);
  if (problem !== null) return problem;
  const { length } = [...name];
  return length < 1 || length > MAX_NAME_LENGTH
    ? `is ${length} characters long; 1 to ${MAX_NAME_LENGTH} are allowed`
    : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member; inherited ones are not part of the body. */
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
