/**
 * Loaded before a test file by `npm test`, in its threads too: what takes most of the time of a process that runs small tests is to find and
 * load a thousand modules.
 *
 * - Packages of many files come from their bundles (`bundle-packages.ts`).
 * - Sources that a source names by their place are not looked for: they are there.
 * - Tap has `error-domain.ts` in place of the package `async-hook-domain`.
 */
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** How the bundled packages export what they have: by names, also a default, or in the older format. */
export const BUNDLED_PACKAGES = {
  kysely: 'names',
  'oidc-provider': 'default',
  'prom-client': 'older',
  tap: 'default',
} as const;

/** The file of a package's bundle. From there other packages are found, and tap keeps its own lines out of stacks. */
export function bundleOf(name: string): string {
  return join(import.meta.dirname, '../../.tap/node_modules/@tapjs/bundles', `${name}.mjs`);
}

const ROOT = new URL('../../', import.meta.url).href;
const RELATIVE_SOURCE = /^\.\.?\/.*\.ts$/;
/** Sources of packages, and those that tests write. */
const FOREIGN_SOURCE = /\/(?:node_modules|\.tap)\//;
const bundles = new Map(
  Object.keys(BUNDLED_PACKAGES)
    .filter((name) => existsSync(bundleOf(name)))
    .map((name) => [name, pathToFileURL(bundleOf(name)).href]),
);
const errorDomain = new URL('error-domain.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context;
    const isOwn = parentURL.startsWith(ROOT) && !FOREIGN_SOURCE.test(parentURL);
    const source =
      isOwn && RELATIVE_SOURCE.test(specifier)
        ? new URL(specifier, parentURL).href
        : specifier === 'async-hook-domain'
          ? errorDomain
          : undefined;
    if (source !== undefined) return { url: source, format: 'module-typescript', shortCircuit: true };
    const bundle = parentURL.includes('/node_modules/') ? undefined : bundles.get(specifier);
    if (bundle === undefined) return next(specifier, context);
    return { url: bundle, format: 'module', shortCircuit: true };
  },
});
