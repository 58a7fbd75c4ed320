/**
 * Bundles the sources for the next start: `node src/cli/make-bundle.ts`. The build of a container image runs it, so that no
 * start of a container has to.
 */
import { spawnSync } from 'node:child_process';
import { planBundle } from './program-bundle.ts';

const { prepare } = planBundle();
if (prepare !== null)
  process.exitCode = spawnSync(process.execPath, prepare, { stdio: 'inherit' }).status ?? 1;
