/** `upbeat completion`: completes commands, options and their values in bash, zsh, fish and PowerShell. */
import addCompletionCommands from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

/**
 * Adds the command `completion`, which prints the script of a shell, and the hidden command `complete`, which such a script runs
 * for the words that fit.
 */
export function addCompletion(program: Command): void {
  addCompletionCommands(program, { completionCommandName: 'completion' });
  program.commands
    .find((command) => command.name() === 'completion')
    ?.description('print the script that completes commands and options in a shell (docs/command-line.md)');
}
