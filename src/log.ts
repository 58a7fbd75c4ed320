/** The program's log: structured lines, readable on a terminal, JSON elsewhere. */
import { pino } from 'pino';
import { hideUserinfo } from './domain/hidden-userinfo.ts';

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

/** Opens the log on standard output. */
export function createLog({ level, format }: LogSettings): Log {
  const pretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY === true);
  return pino({
    level,
    base: null,
    // Under another name an error would be written as an empty object.
    errorKey: 'error',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // Whoever wrote the line, and whatever failed: a password in an address is nothing for a log.
    hooks: { streamWrite: hideUserinfo },
    ...(pretty
      ? {
          transport: {
            target: 'pino-pretty',
            options: {
              translateTime: 'SYS:HH:MM:ss',
              ignore: 'pid,hostname',
              errorLikeObjectKeys: ['error'],
            },
          },
        }
      : {}),
  });
}

/** A log that says nothing, for tests. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
