/** Errors that end a command with their message alone. */

/** The command could not do what it was asked: status 1. */
export class CommandError extends Error {
  readonly code = 'command_failed';
}

/** The command was asked for what it cannot mean: status 2. */
export class UsageError extends CommandError {}
