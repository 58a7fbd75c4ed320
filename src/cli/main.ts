/** The command `upbeat`. */
import { buildCommands } from './commands.ts';

await buildCommands().parseAsync(process.argv);
