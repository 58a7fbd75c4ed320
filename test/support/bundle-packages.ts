/** Bundles packages of many files for the processes of `npm test`, a file each; `quick-modules.ts` gives them to the test files. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build, stop } from 'esbuild';
import { BUNDLED_PACKAGES, bundleOf } from './quick-modules.ts';

const ROOT = join(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);

/** Writes those that are not there as they should be. */
export async function bundlePackages(): Promise<void> {
  const names = Object.keys(BUNDLED_PACKAGES) as (keyof typeof BUNDLED_PACKAGES)[];
  await Promise.all(
    names.map(async (name) => {
      const { outputFiles } = await build({
        stdin: { contents: exportsOf(name), resolveDir: ROOT },
        bundle: true,
        format: 'esm',
        platform: 'node',
        target: 'node24',
        legalComments: 'none',
        logLevel: 'error',
        minifyWhitespace: true,
        write: false,
        alias: { 'async-hook-domain': join(import.meta.dirname, 'error-domain.ts') },
        // Packages in the older format call it.
        banner: {
          js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
        },
      });
      for (const { text } of outputFiles) keep(bundleOf(name), text);
    }),
  );
  await stop();
}

/** A module with the exports of a package. */
function exportsOf(name: keyof typeof BUNDLED_PACKAGES): string {
  const kind = BUNDLED_PACKAGES[name];
  if (kind === 'older') return `export { ${Object.keys(require(name)).join(', ')} } from '${name}';`;
  return `export * from '${name}';${kind === 'default' ? ` export { default } from '${name}';` : ''}`;
}

/** Another run may read the file. */
function keep(file: string, text: string): void {
  if (read(file) === text) return;
  mkdirSync(dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, file);
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
