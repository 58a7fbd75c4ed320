/** What every command takes, and the errors that end one with their message alone. */

/** Options that every command takes. */
export interface CommonOptions {
  readonly config: string;
  readonly json?: boolean;
}

/** The command failed: status 1. */
export class CommandError extends Error {
  readonly code = 'command_failed';
}

/** The arguments of the command are wrong: status 2. */
export class UsageError extends CommandError {}
