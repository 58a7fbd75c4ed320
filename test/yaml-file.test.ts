import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readCatalogue } from '../src/catalogue/read-catalogue.ts';
import { readApplyFiles } from '../src/cli/apply/read-files.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { readYaml } from '../src/yaml-file.ts';

t.test('it reads merge keys as other programs do', async (t) => {
  const cases: readonly (readonly [text: string, wanted: unknown])[] = [
    ['{ <<: *a, y: 3 }', { x: 1, y: 3 }],
    ['{ y: 3, <<: *a }', { y: 3, x: 1 }],
    ['{ <<: [*c, *a] }', { x: 5, z: 6, y: 2 }],
    ['{ !!merge <<: *a, z: 1 }', { x: 1, y: 2, z: 1 }],
    ['{ <<: { k: *a } }', { k: { x: 1, y: 2 } }],
    ['{ <<: *a, <<: *c }', { x: 1, y: 2, z: 6 }],
  ];
  for (const [written, wanted] of cases) {
    const { content, problems } = readYaml(
      `a: &a { x: 1, y: 2 }\nc: &c { x: 5, z: 6 }\nb: ${written}`,
      'f.yaml',
    );
    t.same([problems, (content as { b: unknown } | null)?.b], [[], wanted], written);
  }
});

t.test('files of ours may repeat members by aliases, also of a group that begins with x-', async (t) => {
  const shared = 'x-check: &check { url: "https://a.example/ok", accept: [204] }\n';
  const [service] = readCatalogue(
    `${shared}services:\n  - { slug: a, name: A, domain: a.example, category: developer, check: { <<: *check, accept: [200] } }\n`,
    'c.yaml',
  );
  t.match(service?.check, { url: 'https://a.example/ok', accept: [200] });
  const file = join(t.testdir(), 'apply.yaml');
  writeFileSync(file, `${shared}services:\n  - domain: a.example\n    check: { <<: *check, method: HEAD }\n`);
  t.same(readApplyFiles([file], {}).document, {
    services: [
      { domain: 'a.example', check: { url: 'https://a.example/ok', accept: [204], method: 'HEAD' } },
    ],
  });
  const config = loadConfig({
    file: 'u.yaml',
    env: {},
    readFile: () => 'x-limits: &l { anonymousPerMinute: 7 }\nlimits: { <<: *l, authenticatedPerMinute: 8 }',
  });
  t.match(config.limits, { anonymousPerMinute: 7, authenticatedPerMinute: 8 });
});

t.test('it refuses what is written twice, repeats itself or repeats too much, with its line', async (t) => {
  const bomb = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}]`);
  const merges = Array.from(
    { length: 2_000 },
    (_, at) => `a${at + 1}: &a${at + 1} { <<: *a${at}, k${at + 1}: 1 }`,
  );
  const cases: readonly (readonly [text: string, place: RegExp, message: RegExp])[] = [
    ['a: 1\nb: 2\na: 3', /^f\.yaml:3$/, /^duplicated mapping key$/],
    ['a: &a\n  b: *a', /^f\.yaml$/, /^aliases repeat too much, or themselves$/],
    [`a0: &a0 [x]\n${bomb.join('\n')}`, /^f\.yaml$/, /^aliases repeat too much, or themselves$/],
    [`a0: &a0 { k0: 1 }\n${merges.join('\n')}`, /^f\.yaml:\d+$/, /^merge keys exceeded/],
    ['a: *b', /^f\.yaml:1$/, /^unidentified alias/],
    ['a: 1\n---\nb: 1', /^f\.yaml$/, /^must be one document/],
    ['['.repeat(120_000), /^f\.yaml:1$/, /nesting exceeded/],
  ];
  for (const [text, place, message] of cases)
    t.match(readYaml(text, 'f.yaml'), { content: null, problems: [{ place, message }] }, text.slice(0, 40));
});

t.test('it reads a map of 60,000 members', async (t) => {
  const text = Array.from({ length: 60_000 }, (_, at) => `k${at}: ${at}`).join('\n');
  const { content, problems, lineOf } = readYaml(text, 'f.yaml');
  t.same([problems, Object.keys(content ?? {}).length, lineOf(['k59999'])], [[], 60_000, 60_000]);
  t.match(readYaml(`${text}\nk0: 1`, 'f.yaml').problems, [{ place: 'f.yaml:60001' }]);
});
