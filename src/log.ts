/** The program's log: structured lines, readable on a terminal, JSON elsewhere. */
import { type DestinationStream, pino } from 'pino';
import pretty from 'pino-pretty';
import { hideUserinfo } from './domain/hidden-userinfo.ts';
import { printable, printableJson, printableLines } from './domain/printable-text.ts';

/** What a part needs to speak. Fields first, then one sentence; never a secret. What went wrong stands under `error`. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Level names from quiet to talkative. */
export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** How the log is written; `auto` is `pretty` on a terminal and `json` elsewhere. */
export interface LogSettings {
  readonly level: (typeof LOG_LEVELS)[number];
  readonly format: 'auto' | 'pretty' | 'json';
}

/** Opens the log on standard output. Text of others in it can neither command a terminal nor forge a line. */
export function createLog({ level, format }: LogSettings): Log {
  const isPretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY === true);
  const output = pino.destination({ dest: 1, sync: true });
  const formatLine = isPretty ? createPrettyFormat() : printableJson;
  const stream: DestinationStream = { write: (line) => void output.write(formatLine(line)) };
  return pino(
    {
      level,
      base: null,
      // Under another name an error would be written as an empty object.
      errorKey: 'error',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Whoever wrote the line, and whatever failed: a password in an address is nothing for a log.
      hooks: { streamWrite: hideUserinfo },
    },
    stream,
  );
}

/** Turns a line of JSON into lines for people. */
function createPrettyFormat(): (line: string) => string {
  const format = pretty.prettyFactory({
    colorize: pretty.isColorSupported,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
    errorLikeObjectKeys: ['error'],
  });
  return (line) => format(JSON.parse(line, makePrintable));
}

/** A reviver of JSON; the lines of a stack stay lines. */
function makePrintable(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return name === 'stack' ? printableLines(value) : printable(value);
}

/** A log that says nothing, for tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
