/** Follows what the documents name: files and folders in backquotes, links, npm scripts and commands. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t from 'tap';
import { buildCommands } from '../src/cli/commands.ts';
import { addCompletion } from '../src/cli/completion.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCUMENTS = globSync(
  [
    '*.md',
    'docs/*.md',
    'docs/alerts/*.md',
    'grafana/*.md',
    'test/*.md',
    'deploy/**/*.md',
    '.github/**/*.{md,yml}',
  ],
  {
    cwd: ROOT,
  },
);
/** Past releases name files of their time. */
const CURRENT = DOCUMENTS.filter((name) => name !== 'CHANGELOG.md');
/** The first part of a path that is meant to be one of this repository. */
const TOP_LEVEL = new Set(readdirSync(ROOT));
/** Files that commands write, and that no checkout holds. */
const GENERATED = ['bench/results/latest.local.json'];
const SOURCES = globSync('{src,workers,bin,test,demo,bench,grafana,native}/**/*.{ts,mjs,js}', { cwd: ROOT });
const FILE_NAMES = new Set(SOURCES.map((path) => basename(path)));

t.test('it names only files and folders that exist', async (t) => {
  for (const name of CURRENT) t.same(wrongPaths(name), [], name);
});

t.test('it names only files and folders that exist in comments of the sources', async (t) => {
  for (const name of SOURCES) {
    const comments = captures(read(name), /(\/\*\*[\s\S]*?\*\/|\/\/.*)/g).join('\n');
    const wrong = captures(comments, /`([\w.@-]+\/[^\s`]*\.\w+)`/g).filter(leadsNowhere);
    if (wrong.length > 0) t.same(wrong, [], name);
  }
});

t.test('a docstring says what a thing is: a noun, or a verb such as "Returns"', async (t) => {
  const files = SOURCES.filter((name) => /^(?:src|workers)\//.test(name) && !name.includes('/migrations/'));
  for (const name of files) {
    const asked = captures(read(name), /\/\*\*\s+(?:\* )?((?:What|How|Whether|Where|When)\b.*)/g);
    if (asked.length > 0) t.same(asked, [], `${name}: "Returns true if", "The time at which"`);
  }
});

t.test('it links only to files and headings that exist', async (t) => {
  for (const name of DOCUMENTS) t.same(wrongLinks(name), [], name);
});

t.test('it names only npm scripts and commands that exist', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: object };
  const program = buildCommands();
  addCompletion(program);
  const commands = new Set(program.commands.flatMap((command) => [command.name(), ...command.aliases()]));
  for (const name of CURRENT) {
    const text = read(name);
    const absent = [
      ...captures(text, /npm run ([\w:]+)/g).filter((script) => !(script in scripts)),
      ...captures(text, /(?:npx |`)upbeat ([a-z]+)/g).filter((command) => !commands.has(command)),
    ];
    t.same(absent, [], name);
  }
});

t.test('it takes what each part costs from lines that a benchmark or trial prints', async (t) => {
  const rows = [
    ...read('docs/scale.md').matchAll(/^\| \w+ \|.*\| `(.+)` \| `npm run (bench|soak) -- ([\w-]+)` \|$/gm),
  ];
  t.ok(rows.length >= 15);
  const wrong = rows.filter(([, line = '', kind, name]) => {
    const path = join(kind === 'bench' ? 'bench' : 'test/soak', `${name}.ts`);
    return !existsSync(join(ROOT, path)) || !read(path).includes(line);
  });
  t.same(
    wrong.map(([row]) => row),
    [],
  );
});

t.test('it names tests that exist for each fault', async (t) => {
  const rows = [...read('test/faults.md').matchAll(/^\| (?!part |---).*$/gm)].map(([row]) => row);
  t.ok(rows.length >= 15);
  const cells = rows.flatMap((row) => row.split(' | ').slice(1)).flatMap((cell) => cell.split('; '));
  const wrong = cells.filter((cell) => {
    const [, file] = /^`([\w-]+)`/.exec(cell) ?? [];
    if (file === undefined) return !/^– ?\|?$/.test(cell);
    const sources = SOURCES.filter((path) =>
      file.endsWith('-suite') ? basename(path) === `${file}.ts` : basename(path) === `${file}.test.ts`,
    );
    // The titles of these are in their table.
    if (file.startsWith('fault-')) sources.push('test/e2e/fault-table.ts');
    const literals = sources.flatMap((path) => literalsOf(read(path)));
    const titles = [...cell.matchAll(/"(.+?)"(?=,| \||$)/g)].map(([, title = '']) => title);
    return (
      sources.length === 0 || !titles.every((title) => literals.some((literal) => begins(literal, title)))
    );
  });
  t.same(wrong, []);
});

/** The texts of the literals of a source. */
function literalsOf(source: string): string[] {
  return [...source.matchAll(/(['"`])((?:(?!\1)[^\\\n]|\\.)+)\1/g)].map(([, , text = '']) => text);
}

/** Whether a literal begins with a text; `${…}` stands for anything. */
function begins(literal: string, text: string): boolean {
  if (literal.startsWith(text)) return true;
  const parts = literal.split(/\$\{[^}]*\}/);
  if (parts.length === 1) return false;
  const pattern = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.+');
  return new RegExp(`^${pattern}`).test(text);
}

t.test('it answers where things are with files that define them', async (t) => {
  const answers = [...read('docs/architecture.md').matchAll(/^\| .+\? \| `(\w+)` in `(\S+)` \|$/gm)];
  t.ok(answers.length >= 15);
  const wrong = answers.filter(
    ([, name, path = '']) =>
      !existsSync(join(ROOT, path)) ||
      !new RegExp(`^export (?:async )?(?:function|const|class) ${name}\\b`, 'm').test(read(path)),
  );
  t.same(
    wrong.map(([row]) => row),
    [],
  );
});

/** Paths in backquotes that lead nowhere, and names of source files that no folder holds. */
function wrongPaths(name: string): string[] {
  const text = read(name);
  const files = captures(text, /`([\w-]+(?:\.test)?\.(?:ts|mjs))`/g);
  return [
    ...captures(text, /`([\w.@-]+\/[^\s`]*)`/g).filter(leadsNowhere),
    ...files.filter((file) => !FILE_NAMES.has(file)),
  ];
}

/** Whether a path begins like one of this repository and leads to no file. `<kind>`, `*` and `…` stand for any text. */
function leadsNowhere(path: string): boolean {
  if (!TOP_LEVEL.has(path.split('/')[0] ?? '') || GENERATED.includes(path)) return false;
  const pattern = path.replace(/<[^>]*>|…|\*+/g, '*').replace(/[:#].*$/, '');
  return globSync(pattern, { cwd: ROOT }).length === 0;
}

/** Relative links without a file, and fragments without a heading. */
function wrongLinks(name: string): string[] {
  return captures(read(name), /\]\((?!https?:|mailto:)([^)\s]+)\)/g).filter((link) => {
    const [path = '', fragment] = link.split('#');
    const target = path === '' ? name : join(dirname(name), path);
    if (!existsSync(join(ROOT, target))) return true;
    return fragment !== undefined && !headings(read(target)).includes(fragment);
  });
}

/** The fragments of a document's headings, as GitHub makes them. */
function headings(text: string): string[] {
  return captures(text, /^#+ (.+)$/gm).map((title) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function captures(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

function read(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8');
}
