/** Catalogues that are read in parts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { scanCatalogue } from '../../src/catalogue/scan-catalogue.ts';
import { findList } from '../../src/catalogue/split-catalogue.ts';
import { loadCatalogue } from '../../src/catalogue/watch-catalogue.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { entry } from './catalogue-texts.ts';

const PUBLIC_LIST = join(import.meta.dirname, '../../config/catalogue.yaml');

const parse = (pages: readonly string[] | null) => pages?.flatMap((page) => JSON.parse(page)) ?? null;

t.test('it reads the public list as the parser of YAML does', async (t) => {
  const { pages, slugs, hashes } = await scanCatalogue(PUBLIC_LIST, 'all');
  const wanted = readCatalogue(readFileSync(PUBLIC_LIST, 'utf8'), 'catalogue.yaml');
  t.same(parse(pages), wanted);
  t.equal(hashes?.length, slugs.length);
});

t.test('it reads entries that end in another part of the file', async (t) => {
  const count = 20_000;
  const entries = Array.from({ length: count }, (_, index) =>
    entry(
      `service-${index}`,
      index % 7 === 0 ? `    check:\n      url: http://127.0.0.1/${'é'.repeat(index % 5)}\n` : '',
    ),
  );
  const file = join(t.testdir({ 'c.yaml': `# All.\nservices:\n${entries.join('')}` }), 'c.yaml');
  const all = await scanCatalogue(file, 'all');
  t.equal(parse(all.pages)?.length, count);
  t.same(parse(all.pages)?.at(-1), readCatalogue(`services:\n${entries.at(-1)}`, 'c.yaml')[0]);
  const none = await scanCatalogue(file, 'none');
  t.same([none.digest, none.hashes, none.pages], [all.digest, all.hashes, null]);
  entries[9_000] = entry('service-9000', '    statusPage: { url: "https://x.example", kind: custom }\n');
  writeFileSync(file, `services:\n${entries.join('')}`);
  const { pages, slugs } = await scanCatalogue(file, { except: all.hashes ?? new Float64Array() });
  t.same([slugs, parse(pages)], [['service-9000'], readCatalogue(`services:\n${entries[9_000]}`, 'c.yaml')]);
});

const objects = ['a', 'b', 'c'].map((slug) => ({
  ...{ slug, name: 'Name', domain: `${slug}.example`, category: 'ai' },
}));
const inBraces = ['a', 'b', 'c'].map(
  (slug) => `  { slug: ${slug}, name: Name, "domain": ${slug}.example, category: ai }`,
);

/** Catalogues of the same three services in the forms that YAML has. */
const FORMS: Readonly<Record<string, string>> = {
  'a member in a line': `services:\n${entry('a')}${entry('b')}${entry('c')}`,
  'groups in braces':
    'services:\n' +
    ['a', 'b', 'c']
      .map((slug) => `  - { slug: ${slug}, name: Name, "domain": ${slug}.example, category: ai }\n`)
      .join(''),
  'dashes at the margin, behind comments': `# All.\n---\nservices: # here\n\n# first\n${(entry('a') + entry('b') + entry('c')).replace(/^ {2}/gm, '')}`,
  'a dash in a line of its own': `services:\n${['a', 'b', 'c'].map((slug) => entry(slug).replace('- ', '-\n    ')).join('')}`,
  'quoted and folded texts': `services:\n${entry('"a"').replaceAll('"a".example', "'a.example'").replace('name: Name', 'name: >-\n      Name')}${entry('b').replace('Name', '"Na\\\n      me"')}${entry('c')}`,
  'lines of Windows with a byte order mark': `\uFEFF${`services:\n${entry('a')}${entry('b')}${entry('c')}`.replaceAll('\n', '\r\n')}`,
  'tabs in comments and before them': `services:\n${entry('a')}    \t# a\tb\n${entry('b')}${entry('c')}`,
  'quoted names, and more spaces': `"services" :\n${(entry('a') + entry('b') + entry('c')).replace(/^ {2}(?= |-)/gm, '     ').replace(/(slug|name):/g, "'$1':")}`,
  'a list in brackets': `services: [\n${inBraces.join(',\n')}]\n`,
  'a file in braces': `# All, ]\n{ x-note: "services: [", services: [${inBraces.join(', # one\n')}, ] }`,
  JSON: JSON.stringify({ services: objects }),
  'JSON over lines': JSON.stringify({ services: objects, 'x-note': [] }, null, 4),
  'members after the list': `%YAML 1.2\n---\nservices: !!seq # all\n${entry('a')}${entry('b')}${entry('c')}# End.\nx-note:\n  - a\n...\n`,
  'comments of their own': `services:\n${['a', 'b', 'c'].map((slug) => `  # ${slug}: [\n${entry(slug, `    # ${slug} #\n`)}`).join('')}`,
  'anchors before the list': `x-all: &all\n  category: ai\nservices:\n${(entry('a') + entry('b') + entry('c')).replaceAll('category: ai', '<<: *all')}`,
  'anchors of an entry far before': `services:\n${entry('a').replace(': ai', ': &kind ai')}${entry('b').replace(': ai', ': &other ai')}${entry('c').replace(': ai', ': *kind')}`,
  'anchors of their own': `services:\n${['a', 'b', 'c'].map((slug) => entry(slug).replace(': ai', `: &${slug} ai`)).join('')}`,
  'anchors that are used at once': `services: [\n${inBraces.map((one) => one.replace('name: Name', 'name: &n Name, x: *n').replace(', x: *n', '')).join(',\n')}]\n`,
  'anchors in the list': `services:\n${entry('a').replace(': ai', ': &kind ai')}${entry('b').replace(': ai', ': *kind')}${entry('c')}`,
};

t.test('it reads each form of YAML in parts as the parser reads it as a whole', async (t) => {
  const services = readCatalogue(FORMS['a member in a line'] ?? '', 'c.yaml');
  for (const [what, text] of Object.entries(FORMS)) {
    t.same(readCatalogue(text, 'c.yaml'), services, `${what}, as a whole`);
    const file = join(t.testdir({ 'c.yaml': text }), 'c.yaml');
    const { pages, hashes } = await scanCatalogue(file, 'all');
    t.same(parse(pages), services, what);
    t.equal(
      hashes === null,
      what.startsWith('anchors'),
      `${what}: compared by entries where no alias leads elsewhere`,
    );
  }
});

t.test(
  'it leaves to the reader of whole files what cannot be read in parts, and what has a problem',
  async (t) => {
    const texts = {
      'a list in brackets that does not end': 'services: [\n',
      'a member beside a list in brackets': `{"services": [], "other": 1}`,
      'a comma too many': `services: [${inBraces[0]},, ${inBraces[1]}]\n`,
      'a list at another place': `x-a: { services: [${inBraces[0]}] }\n`,
      'an empty list': 'services:\n',
      'no list': 'services: 7\n',
      'a member beside the list': `services:\n${entry('a')}other: 1\n`,
      'a second document': `services:\n${entry('a')}---\nservices: []\n`,
      'two equal slugs': `services:\n${entry('a')}${entry('a').replace('a.example', 'b.example')}`,
      'two equal badges': `services:\n${entry('a')}${entry('b').replace('b.example', 'a-example')}`,
      'an invalid entry': `services:\n${entry('A')}`,
      'an unknown member before the list': `other: 1\nservices:\n${entry('a')}`,
      'an unknown alias': `services:\n${entry('a', '    check: *none\n')}`,
    };
    for (const [what, text] of Object.entries(texts)) {
      const file = join(t.testdir({ 'c.yaml': text }), 'c.yaml');
      t.equal((await scanCatalogue(file, 'all')).pages, null, what);
    }
  },
);

t.test('what it reads in parts, it reads as the parser does', async (t) => {
  const value = fc.oneof(
    fc.constantFrom(
      'ai',
      'null',
      '~',
      '007',
      '1e3',
      '12',
      '127.0.0.1',
      '3m',
      'a: b',
      'a:b',
      'a #b',
      'a#b',
      'a:',
    ),
    fc.constantFrom(
      '"x"',
      "'it''s'",
      '"a\\n"',
      '&a b',
      '*a',
      '!!str 1',
      '[1]',
      '{ a: 1 }',
      '|',
      '>',
      '# c',
      '',
    ),
    fc.stringMatching(/^[ -~]{0,12}$/),
    anyText({ maxLength: 6 }),
  );
  const line = fc.tuple(
    fc.constantFrom('    ', '      ', '  ', '     ', '  - ', ''),
    fc.constantFrom('slug', 'name', 'domain', 'category', 'check', 'url'),
    value,
  );
  const folder = t.testdir({});
  const file = join(folder, 'c.yaml');
  let read = 0;
  await fc.assert(
    fc.asyncProperty(value, fc.array(line, { maxLength: 4 }), async (name, lines) => {
      const more = lines.map(([indent, member, one]) => `${indent}${member}: ${one}\n`).join('');
      const text = `services:\n${entry('a')}${entry('b').replace('Name', name)}${more}${entry('c')}`;
      writeFileSync(file, text);
      const { pages } = await scanCatalogue(file, 'all');
      if (pages === null) return;
      read += 1;
      t.same(readCatalogue(text, 'c.yaml'), parse(pages), JSON.stringify(text));
    }),
    { numRuns: propertyRuns(1_000) },
  );
  t.ok(read > 50, `${read} of them were read`);
});

t.test('it names each problem of a large file with its line, whatever part it is in', async (t) => {
  const count = 60_000;
  const entries = Array.from({ length: count }, (_, index) => entry(`service-${index}`));
  entries[30_000] = entry('UPPER');
  entries[45_000] = entry('service-7');
  entries[50_000] = '  - slug: [\n    name: x\n    domain: d.example\n    category: ai\n';
  const file = join(t.testdir({ 'c.yaml': `# All.\nservices:\n${entries.join('')}` }), 'c.yaml');
  const problems = await loadCatalogue(file).then(
    () => [],
    (error: { readonly problems: readonly string[] }) => error.problems,
  );
  const wanted = [
    new RegExp(`c\\.yaml:${30_000 * 4 + 3}: UPPER: slug must be`),
    new RegExp(`c\\.yaml:${30_000 * 4 + 5}: UPPER: domain must be`),
    new RegExp(`c\\.yaml:${45_000 * 4 + 3}: the slug "service-7" stands in line ${7 * 4 + 3} already`),
    new RegExp(
      `c\\.yaml:${45_000 * 4 + 5}: the domain "service-7.example" stands in line ${7 * 4 + 3} already`,
    ),
    /c\.yaml:5000\d\d: |c\.yaml:2000\d\d: /,
  ];
  t.equal(problems.length, wanted.length, problems.join('\n'));
  for (const [index, line] of wanted.entries()) t.match(problems[index], line);
});

t.test('it finds the list behind comments and extensions', async (t) => {
  const found = (text: string) => findList(text)?.before ?? null;
  for (const before of [
    '# A list.\n\nservices:\n\n  # First\n',
    'services:\n',
    'x-a: 1\nservices:\n',
    '---\n"services" : &all # x\n',
  ])
    t.equal(found(`${before}  - slug: a\n`), before);
  for (const before of ['services: [', '{services:[', '{"x-a": "services: [",\n "services" :\n # x\n ['])
    t.equal(found(`${before}{slug: a}]`), before);
  t.equal(found('name: x\nservices:\n  - slug: a\n'), null);
  t.equal(found('services:\n  text\n  - slug: a\n'), null);
  t.equal(found('x-a: { services: ['), null);
});

t.test('it loses no entry behind a comment in another encoding than UTF-8', async (t) => {
  const first = entry('first');
  // Each byte would count as the three of the character that stands for it.
  const comment = Buffer.concat([Buffer.from('# '), Buffer.alloc(first.length / 2, 0xfc), Buffer.from('\n')]);
  const file = join(t.testdir(), 'c.yaml');
  const key = Buffer.from('services:\n');
  for (const before of [
    [comment, key],
    [key, comment],
  ]) {
    writeFileSync(file, Buffer.concat([...before, Buffer.from(`${first}${entry('second')}`)]));
    const { services } = await loadCatalogue(file);
    t.same(
      services.map(({ slug }) => slug),
      ['first', 'second'],
    );
  }
});

t.test('it gives up what nobody needs any more', async (t) => {
  let parts = 0;
  t.equal(await scanCatalogue(PUBLIC_LIST, 'none', () => ++parts > 0), null);
  t.equal(parts, 1);
});
