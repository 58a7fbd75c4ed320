/** Holds the one direction of flow: which folder of `src/` may import which, and that no imports run in a circle. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '..');

/** What each part may import beside itself and `error`, by the table of docs/architecture.md; `all`: it joins others. */
const MAY_IMPORT = readTable(readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8'));

/** At most this share of the sources, such as tables of texts and types, has no file of tests of their name. */
const MAX_UNNAMED = 0.38;

interface Import {
  readonly from: string;
  readonly to: string;
  /** Both files, from the root of the repository. */
  readonly file: string;
  readonly target: string;
}

t.test('it allows each part to import only what the table allows', async (t) => {
  const wrong = imports(join(ROOT, 'src')).filter(
    ({ from, to }) =>
      ![from, 'error'].includes(to) && ![to, 'all'].some((part) => MAY_IMPORT.get(from)?.includes(part)),
  );
  t.same(wrong, []);
});

t.test('it runs without the demonstration and the tests', async (t) => {
  const outside = [...importsOf(join(ROOT, 'src')), ...importsOf(join(ROOT, 'workers'))].filter(
    ({ target }) => /^(?:demo|test|bench)\//.test(relative(ROOT, target)),
  );
  t.same(outside, [], 'the program');
  const ofTests = importsOf(join(ROOT, 'demo')).filter(({ target }) =>
    /^test\/(?!support\/)/.test(relative(ROOT, target)),
  );
  t.same(ofTests, [], 'the demonstration needs no test, but the certificates and free ports of test/support');
});

t.test('the table has every part that there is, and no other', async (t) => {
  t.same([...MAY_IMPORT.keys()].sort(), [...new Set(sources(join(ROOT, 'src')).map(partOf))].sort());
  const known = ['all', ...MAY_IMPORT.keys()];
  t.same(
    [...MAY_IMPORT.values()].flat().filter((part) => !known.includes(part)),
    [],
  );
});

t.test('it has no circle of files, imports of types included', async (t) => {
  t.same(circlesOf(imports(join(ROOT, 'src')).map(({ file, target }) => [file, target])), []);
});

t.test('it has no circle of folders', async (t) => {
  const isWithin = (folder: string, other: string) => `${folder}/`.startsWith(`${other}/`);
  const edges = imports(join(ROOT, 'src'))
    .map(({ file, target }) => [dirname(file), dirname(target)] as const)
    // A folder and the folders within it are one.
    .filter(([from, to]) => !isWithin(from, to) && !isWithin(to, from));
  t.same(circlesOf(edges), []);
  const table = [...MAY_IMPORT].flatMap(([from, parts]) => parts.map((to) => [from, to] as const));
  t.same(circlesOf(table), [], 'nor does the table allow one');
});

t.test('it finds circles', async (t) => {
  const edges = ['ab', 'bc', 'cb', 'ca', 'da', 'ae'].map((pair) => [...pair] as unknown as Edge);
  t.same(circlesOf(edges), ['a', 'b', 'c']);
  t.same(circlesOf(edges.slice(0, 2)), []);
});

t.test('most sources have their tests in a file of their name', async (t) => {
  const names = sources(join(ROOT, 'src')).map((file) => relative(join(ROOT, 'src'), file));
  const without = names.filter((name) => !existsSync(join(ROOT, 'test', name.replace(/\.ts$/, '.test.ts'))));
  t.ok(
    without.length < MAX_UNNAMED * names.length,
    `${without.length} of ${names.length} have none; add one, or divide a file with tests of several`,
  );
});

t.test('the reference implementation of the rules shares no code with the program', async (t) => {
  const folder = join(ROOT, 'test/model/reference');
  const known = new Set<string>();
  const follow = (file: string) => {
    if (known.has(file)) return;
    known.add(file);
    for (const { target } of importsOfFile(file)) follow(target);
  };
  for (const file of sources(folder)) follow(file);
  t.same(
    [...known].map((file) => relative(ROOT, file)).filter((file) => !file.startsWith('test/model/')),
    [],
  );
});

t.test('it reads the environment and the clock in their own places only', async (t) => {
  const offenders = sources(join(ROOT, 'src')).flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const found: string[] = [];
    if (/process\.env/.test(text) && !['config', 'cli', 'main'].includes(partOf(file)))
      found.push('process.env');
    if (/\bDate\.now\(/.test(text) && partOf(file) !== 'clock') found.push('Date.now');
    if (/\bMath\.random\(/.test(text) && partOf(file) !== 'clock') found.push('Math.random');
    return found.map((what) => `${relative(ROOT, file)}: ${what}`);
  });
  t.same(offenders, []);
});

t.test('it compares secrets in constant time', async (t) => {
  for (const file of ['auth/api-keys.ts', 'auth/sessions.ts', 'store/registry/accounts/key-rows.ts']) {
    const text = readFileSync(join(ROOT, 'src', file), 'utf8');
    t.match(text, /timingSafeEqual\(/, file);
    t.notMatch(text, /(?:sha256|secret|[tT]oken)\)? *[!=]== *(?!null|undefined)/, file);
    t.notMatch(text, /\.equals\(/, file);
  }
});

t.test('it lets tests wrap the registry, and build none with rules of its own', async (t) => {
  // Whichever way such a method is written, it hands on to the same method of the registry that it wraps.
  const names =
    'commitUpdates|claimDomain|putCatalogue|putInInbox|openInInbox|answerInInbox|putVendorReadings';
  const definition = new RegExp(`(?<![.\\w'$])(${names})\\s*[(:,=]|\\.(${names})\\s*=(?![=>])`, 'g');
  const others = sources(join(ROOT, 'test')).flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    return [...text.matchAll(definition)]
      .filter(({ 0: found, 1: own, 2: assigned, index }) => {
        const name = own ?? assigned;
        if (new RegExp(`^import \\{[^}]*\\b${name}\\b[^}]*\\} from '.*/src/`, 'm').test(text)) return false;
        return !text.slice(index + found.length, index + 600).includes(`.${name}(`);
      })
      .map(({ 0: found }) => `${relative(ROOT, file)}: ${found}`);
  });
  t.same(others, []);
});

/** The rows of the table whose first cell names files or folders of `src/`. */
function readTable(text: string): ReadonlyMap<string, readonly string[]> {
  const rows = [...text.matchAll(/^\| (`src\/.*?) \| .* \| (.*) \|$/gm)];
  return new Map(
    rows.flatMap(([, names = '', parts = '']) =>
      [...names.matchAll(/`src\/(.*?)(?:\/|\.ts)`/g)].map(
        ([, name = '']) => [name, parts === 'nothing' ? [] : parts.split(', ')] as const,
      ),
    ),
  );
}

function imports(folder: string): Import[] {
  return importsOf(folder)
    .filter(({ target }) => target.startsWith(join(ROOT, 'src')))
    .map(({ file, target }) => ({
      from: partOf(file),
      to: partOf(target),
      file: relative(ROOT, file),
      target: relative(ROOT, target),
    }));
}

/** Static imports and exports, of types as well, and modules that are loaded at the time of use. */
function importsOf(folder: string): { readonly file: string; readonly target: string }[] {
  return sources(folder).flatMap(importsOfFile);
}

function importsOfFile(file: string): { readonly file: string; readonly target: string }[] {
  return [...readFileSync(file, 'utf8').matchAll(/(?:from |import |import\()'(\.[^']+)'/g)].map((match) => ({
    file,
    target: join(file, '..', match[1] ?? ''),
  }));
}

type Edge = readonly [from: string, to: string];

/** The nodes on circles, and on ways from one circle to another: what is left when all others are taken away. */
function circlesOf(edges: readonly Edge[]): string[] {
  let left = edges.filter(([from, to]) => from !== to);
  for (;;) {
    const starts = new Set(left.map(([from]) => from));
    const ends = new Set(left.map(([, to]) => to));
    const inner = left.filter(([from, to]) => ends.has(from) && starts.has(to));
    if (inner.length === left.length) return [...starts].sort();
    left = inner;
  }
}

/** The part that a source file belongs to: its folder, one deeper inside `store/`, or its own name at the top. */
function partOf(file: string): string {
  const [first = '', second = ''] = relative(join(ROOT, 'src'), file).split('/');
  if (first === 'store') return `store/${second}`;
  return first.replace(/\.ts$/, '');
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}
