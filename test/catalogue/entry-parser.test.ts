/** Aliases of entries that are parsed in parts. */
import { join } from 'node:path';
import t from 'tap';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { scanCatalogue } from '../../src/catalogue/scan-catalogue.ts';
import { entry } from './catalogue-texts.ts';

const parse = (pages: readonly string[] | null) => pages?.flatMap((page) => JSON.parse(page)) ?? null;

t.test('an alias means the nearest anchor before it, however far away it is', async (t) => {
  const checks = ['&a { url: "http://a.example/0" }', '*a', '{ <<: *a, method: GET }', '&b { <<: *a }', '*b'];
  const more = ['&a { url: "http://a.example/1" }', '*a', '*b', '&c { <<: [*a, *b] }', '{ <<: *c }'];
  const rest = Array.from({ length: 900 }, (_, index) => ['*a', '*b', '{ <<: *c }'][index % 3] ?? '');
  const far = Array.from({ length: 500 }, () => '{ url: "http://x.example/" }');
  const entries = [...checks, ...far, ...more, ...far, ...rest].map((check, index) =>
    entry(`s${index}`, `    check: ${check}\n`),
  );
  for (const head of ['services:\n', 'x-a: &a { method: HEAD }\nx-b: &b { method: GET }\nservices:\n'])
    for (const list of [entries, entries.slice(1)]) {
      const text = head + list.join('');
      const file = join(t.testdir({ 'c.yaml': text }), 'c.yaml');
      const { pages } = await scanCatalogue(file, 'all');
      if (list === entries || head.startsWith('x')) t.same(parse(pages), readCatalogue(text, 'c.yaml'));
      else t.equal(pages, null, 'an unknown alias');
    }
});
