/**
 * `npm run licences [-- --all]`: name, version and licence of every package that is installed for the program, or with
 * `--all` also of those for development, as the lock file names them. Ends with status 1 for a licence that is not allowed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Licences that ask for no more than that they are named, as SPDX writes them. */
const PERMISSIVE = ['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0'];
/** Of the program: what ships. Python’s licence asks for its notice alone. */
const SHIPPED = [...PERMISSIVE, 'PSF-2.0'];
/** Of tools, which do not ship: also file-based copyleft, licences of fonts, and of lists of words. */
const TOOLS = [
  ...SHIPPED,
  ...['BlueOak-1.0.0', 'Python-2.0', 'MPL-2.0', 'OFL-1.1', 'CC0-1.0', 'CC-BY-3.0', 'Zlib'],
];

/** A package in the lock file. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** An expression of SPDX; empty: the package names none. */
  readonly license: string;
  /** True: it does not ship. */
  readonly isTool: boolean;
  /** Digest of its archive; empty: none. */
  readonly integrity: string;
}

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version: string;
        readonly license?: string;
        readonly dev?: boolean;
        readonly devOptional?: boolean;
        readonly integrity?: string;
      }
    >
  >;
}

/** All packages of a lock file, in its order. */
export function readPackages(lockFile: string): LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as LockFile;
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version, license = '', dev = false, devOptional = false, integrity = '' }]) => ({
      ...{ name: path.replace(/^.*node_modules\//, ''), version, license, integrity },
      isTool: dev || devOptional,
    }));
}

/** Whether the licence is allowed. Of `A OR B` one must be, of `A AND B` both. */
export function isAllowed({ license, isTool }: Pick<LockedPackage, 'license' | 'isTool'>): boolean {
  const allowed = isTool ? TOOLS : SHIPPED;
  const words = license.replaceAll(/[()]/g, '');
  const isFine = (one: string) => allowed.includes(one.trim());
  return words.includes(' OR ') ? words.split(' OR ').some(isFine) : words.split(' AND ').every(isFine);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { all: { type: 'boolean', default: false } } });
  const packages = readPackages(join(import.meta.dirname, '../package-lock.json'));
  const shown = packages.filter(({ isTool }) => values.all || !isTool);
  for (const one of shown) {
    const { name, version, license } = one;
    const isFine = isAllowed(one);
    if (!isFine) process.exitCode = 1;
    console.log([name, version, license || 'none', ...(isFine ? [] : ['NOT ALLOWED'])].join('\t'));
  }
}
