/** The packages that are installed: their licences, and that each is the one that was reviewed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { isAllowed, readPackages } from './licences.ts';

const ROOT = join(import.meta.dirname, '..');
const packages = readPackages(join(ROOT, 'package-lock.json'));

t.test('every package has a licence that is allowed', async (t) => {
  t.ok(packages.length > 500);
  t.ok(packages.filter(({ isTool }) => !isTool).length > 100);
  const refused = packages.filter((one) => !isAllowed(one));
  t.strictSame(
    refused.map(({ name, license }) => [name, license]),
    [],
  );
});

t.test('it knows what is allowed', async (t) => {
  const table = [
    ['MIT', false, true],
    ['MPL-2.0', false, false],
    ['MPL-2.0', true, true],
    ['GPL-3.0-only', true, false],
    ['(MIT OR GPL-3.0-only)', false, true],
    ['(MIT AND GPL-3.0-only)', true, false],
    ['', true, false],
    ['UNLICENSED', true, false],
  ] as const;
  for (const [license, isTool, wanted] of table) t.equal(isAllowed({ license, isTool }), wanted, license);
});

t.test('every package has a digest, so that no registry can replace it', async (t) => {
  const without = packages.filter(({ integrity }) => !integrity.startsWith('sha512-'));
  t.strictSame(
    without.map(({ name }) => name),
    [],
  );
});

t.test('changes of packages are reviewed, and their signatures are verified', async (t) => {
  const { jobs } = parse(readFileSync(join(ROOT, '.github/workflows/dependencies.yml'), 'utf8')) as {
    readonly jobs: Readonly<Record<string, { readonly steps: readonly Readonly<Record<string, unknown>>[] }>>;
  };
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const used = steps.flatMap(({ uses, run }) => [uses, run]).filter((step) => step !== undefined);
  t.match(used.join('\n'), /actions\/dependency-review-action@/);
  t.match(used.join('\n'), /npm audit signatures/);
  t.match(used.join('\n'), /npm audit --omit=dev/);
  t.match(used.join('\n'), /npm run --silent licences -- --all/);
  t.match(used.join('\n'), /npm run --silent sbom/);
});
