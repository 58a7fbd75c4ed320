/** The program's log: structured lines, readable on a terminal, JSON elsewhere. */

import { createRequire } from 'node:module';
import type { DestinationStream } from 'pino';
import type PinoPretty from 'pino-pretty';
import { type Clock, systemClock } from './clock.ts';
import { DAY_MS, HOUR_MS } from './domain/durations.ts';
import { hideUserinfo, printable, printableJson, printableLines } from './domain/printable-text.ts';
import { eventOf, LOG_EVENTS, NAMED_EVENTS } from './log-events.ts';

/** The interface of the log: fields first, then one sentence. Never log secrets. Errors belong into the field `error`. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Level names from the least to the most verbose. */
const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** Format of the log; `auto` is `pretty` on a terminal and `json` elsewhere. */
export interface LogSettings {
  readonly level: (typeof LOG_LEVELS)[number];
  readonly format: 'auto' | 'pretty' | 'json';
}

/** A warning or an error that was logged. */
export interface LoggedEvent {
  /** A name of docs/runbook.md. */
  readonly event: string;
  /** The number of times since the start. */
  readonly count: number;
  /** The last time, epoch milliseconds. */
  readonly lastAt: number;
}

/** The log of a process, which counts its warnings and errors. */
export interface CountedLog extends Log {
  /** The number of warnings and errors since the start by event; 0 for those that have not occurred. */
  events(): Readonly<Record<string, number>>;
  /** The events of the last hour, and findings of monthly looks until the next one; the newest first. */
  recentEvents(): readonly LoggedEvent[];
}

/** Events are recent for this time, milliseconds. */
const RECENT_MS = HOUR_MS;
/** Those of looks that are a month apart, until the next one. */
const RECENT_FOR_MS: ReadonlyMap<string, number> = new Map([['status_page_changed', 30 * DAY_MS]]);

/**
 * Opens the log on standard output. Foreign text can neither control the terminal nor forge lines. Warnings and errors have the
 * member `event`: the name of their sentence, unless their fields name it. `clock`: default the system's.
 */
export function createLog({ level, format }: LogSettings, clock: Clock = systemClock): CountedLog {
  const counts = new Map([...Object.keys(LOG_EVENTS), ...NAMED_EVENTS].map((event) => [event, 0]));
  /** The time at which each event was logged last, by both clocks; in the order of these times. */
  const last = new Map<string, { readonly at: number; readonly monotonicAt: number }>();
  // Commands, which write no log, do not load it.
  const { pino }: typeof import('pino') = createRequire(import.meta.url)('pino');
  const isPretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY === true);
  const output = pino.destination({ dest: 1, sync: true });
  const formatLine = isPretty ? createPrettyFormat() : printableJson;
  const stream: DestinationStream = { write: (line) => void output.write(formatLine(line)) };
  const lines = pino(
    {
      level,
      base: null,
      // pino would serialize an error under another name as an empty object.
      errorKey: 'error',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Passwords in URLs are removed from every line.
      hooks: { streamWrite: hideUserinfo },
    },
    stream,
  );
  /** Counts a warning or an error, and names its event. Silent levels are counted too. */
  const counted = (fields: object, sentence: string): object => {
    const event = 'event' in fields ? String(fields.event) : eventOf(sentence);
    if (event === null) return fields;
    counts.set(event, (counts.get(event) ?? 0) + 1);
    last.delete(event);
    last.set(event, { at: clock.now(), monotonicAt: clock.monotonic() });
    return { event, ...fields };
  };
  return {
    debug: (fields, sentence) => lines.debug(fields, sentence),
    info: (fields, sentence) => lines.info(fields, sentence),
    warn: (fields, sentence) => lines.warn(counted(fields, sentence), sentence),
    error: (fields, sentence) => lines.error(counted(fields, sentence), sentence),
    events: () => Object.fromEntries(counts),
    recentEvents: () =>
      [...last]
        .filter(
          ([event, { monotonicAt }]) =>
            clock.monotonic() - monotonicAt < (RECENT_FOR_MS.get(event) ?? RECENT_MS),
        )
        .map(([event, { at }]) => ({ event, count: counts.get(event) ?? 0, lastAt: at }))
        .reverse(),
  };
}

/** Formats a line of JSON for people. */
function createPrettyFormat(): (line: string) => string {
  // Loaded on terminals only, 3 MB.
  const pretty: typeof PinoPretty = createRequire(import.meta.url)('pino-pretty');
  const format = pretty.prettyFactory({
    colorize: pretty.isColorSupported,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
    errorLikeObjectKeys: ['error'],
  });
  return (line) => format(JSON.parse(line, makePrintable));
}

/** A JSON reviver that keeps the lines of a stack trace. */
function makePrintable(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return name === 'stack' ? printableLines(value) : printable(value);
}

/** A log that writes nothing, for commands and tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
