/** The command `upbeat`. */
import { buildCommands, COMPLETION_WORDS } from './commands.ts';

const program = buildCommands();
if (COMPLETION_WORDS.has(process.argv[2] ?? '')) (await import('./completion.ts')).addCompletion(program);
await program.parseAsync(process.argv);
