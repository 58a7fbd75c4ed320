/** The figures of the documentation are those of the stored run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BASELINE, type BenchRun, documentRun, renewSections } from '../../bench/document.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const run = JSON.parse(readFileSync(BASELINE, 'utf8')) as BenchRun;

t.test(
  'table and curves are drawn from the stored run: otherwise run `npm run bench -- --draw`',
  async (t) => {
    for (const [path, text] of Object.entries(documentRun(run, read))) t.equal(read(path), text, path);
  },
);

t.test('a table has every row, what was missed and what could not be measured', async (t) => {
  const row = { section: 'pages', value: 26_500, unit: 'bytes', ratio: null, target: null, reached: null };
  const machine = { node: 'v24.1.0', processors: 2, model: 'AMD EPYC' };
  const rows = [
    { ...row, name: 'home: the page', target: '<= 30,720', reached: true },
    { ...row, name: 'home: paint', value: 3_100.5, unit: 'ms', target: '<= 2,500', reached: false },
    {
      ...row,
      section: 'api',
      name: 'a|b',
      value: 0.123,
      unit: 'ms',
      ratio: 1.234,
      target: '>= 0.6',
      reached: true,
    },
    { ...row, section: 'api', name: 'peer', value: null, unit: 'not installed' },
  ];
  const { 'bench/results/baseline.md': page } = documentRun(
    { at: '2026-11-24T01:02:03.004Z', version: '1.0.0', machine, rows },
    read,
  );
  t.match(
    page,
    [
      'Measured on 2026-11-24 at 01:02 UTC with version 1.0.0 and Node v24.1.0 on 2 processors (AMD EPYC).',
      '',
      '| what | measured | ratio | wanted |',
      '| --- | --- | --- | --- |',
      '| **Pages in a browser** |  |  |  |',
      '| home: the page | 26,500 bytes |  | ≤ 30,720 |',
      '| home: paint | 3,101 ms |  | ≤ 2,500, **missed** |',
      '| **API and badges** |  |  |  |',
      '| a\\|b | 0.12 ms | 1.23 | ≥ 0.6 |',
      '| peer | not installed |  |  |',
    ].join('\n'),
  );
});

t.test('the page has the headlines and what was missed', async (t) => {
  const row = { section: 'badges', value: 1, unit: 'ms', ratio: null, target: '<= 2', reached: true };
  const rows = [
    { ...row, name: 'badge: cold' },
    { ...row, name: 'badge: another' },
    { ...row, name: 'badge: late', value: 3, reached: false },
  ];
  const { 'docs/performance.md': page } = documentRun({ ...run, rows }, read);
  t.match(page, '| badge: cold | 1.00 ms |  | ≤ 2 |\n| badge: late | 3.00 ms |  | ≤ 2, **missed** |');
});

t.test('what machine an installation needs follows from the measured rows', async (t) => {
  const row = (section: string, name: string, value: number, unit: string) => ({
    ...{ section, name, value, unit, ratio: null, target: null, reached: null },
  });
  const rows = [
    row('rate', 'whole program with 1,200 services every 5 min: CPU', 3_000, 'ms a minute'),
    row('sizes', '1,000,000 services: CPU of all processes', 0.6, 's a second'),
    row('check-cost', 'HTTP: whole engine, beside the slot Client', 100, 'µs CPU a check'),
    row('check-cost', 'HTTPS: whole engine, beside undici', 400, 'µs CPU a check'),
  ];
  const { 'docs/performance.md': page } = documentRun({ ...run, rows }, read);
  t.match(page, '| 1,200 | 4 a second | 5 % of a core | 256 MiB | 0.2 GB |');
  t.match(page, '| 10,000 | 33 a second | not measured |');
  t.match(page, '| 1,000,000 | 3,333 a second | 1.6 cores |');
});

t.test('sections are measured again alone, and say when', async (t) => {
  const rowOf = (section: string, value: number) => ({
    ...{ section, name: section, value, unit: 'ms', ratio: null, target: null, reached: null },
  });
  const machine = { node: 'v24.1.0', processors: 2, model: 'AMD EPYC' };
  const stored: BenchRun = {
    ...{ at: '2026-11-24T01:02:03.004Z', version: '1.0.0', machine },
    rows: [rowOf('truth', 1), rowOf('samples', 2), rowOf('samples', 3), rowOf('api', 4)],
  };
  const later = {
    ...stored,
    ...{ at: '2026-12-01T10:11:12.013Z', version: '1.1.0' },
    rows: [rowOf('samples', 5), rowOf('rate', 6)],
  };
  const renewed = renewSections(stored, later);
  t.same(
    renewed.rows.map(({ section, value }) => `${section} ${value}`),
    ['truth 1', 'rate 6', 'samples 5', 'api 4'],
  );
  const page = documentRun(renewed, read)['bench/results/baseline.md'];
  t.match(page, 'Measured on 2026-11-24 at 01:02 UTC with version 1.0.0');
  t.match(page, '| **Samples, embedded** | 2026-12-01 at 10:11 UTC, 1.1.0 |  |  |\n| samples | 5.00 ms');
  t.match(page, '| **API and badges** |  |  |  |');
  const elsewhere = renewSections(stored, { ...later, machine: { ...machine, model: 'another' } });
  t.match(
    documentRun(elsewhere, read)['bench/results/baseline.md'],
    '| **Samples, embedded** | 2026-12-01 at 10:11 UTC, 1.1.0, another |  |  |',
  );
  const last = { ...later, at: '2026-12-02T11:12:13.014Z', rows: [rowOf('truth', 7), rowOf('api', 8)] };
  const whole = renewSections(elsewhere, { ...last, machine: { ...machine, model: 'another' } });
  t.match(
    documentRun(whole, read)['bench/results/baseline.md'],
    'Measured on 2026-12-01 at 10:11 UTC with version 1.1.0 and Node v24.1.0 on 2 processors (another).',
    'every section was measured there',
  );
  t.same(Object.keys(whole.renewed ?? {}), ['truth', 'api']);
});

t.test('what grows with the fleet is a table with a column for each size', async (t) => {
  const row = (name: string, value: number, unit: string) => ({
    ...{ section: 'sizes', name, value, unit, ratio: null, target: null, reached: null },
  });
  const pages = documentRun(
    {
      ...run,
      renewed: { sizes: { at: '2026-12-01T10:11:12.013Z', version: '1.1.0' } },
      rows: [
        row('1,000 services: ready', 3.14, 's'),
        row('1,000,000 services: ready', 17.5, 's'),
        row('10,000 services: a status', 1.25, 'ms'),
      ],
    },
    read,
  );
  t.match(pages['docs/scale.md'], 'Measured on 2026-12-01 at 10:11 UTC with version 1.1.0');
  t.match(pages['docs/scale.md'], '| services | 1,000 | 10,000 | 100,000 | 1,000,000 |');
  t.match(pages['docs/scale.md'], '| ready, s | 3.14 | – | – | 17.5 |');
  t.match(pages['docs/scale.md'], '| a status, ms | – | 1.25 | – | – |');
  t.notMatch(pages['bench/results/baseline.md'], '1,000 services: ready');
  t.match(pages['docs/pictures/fleet-sizes.svg'], 'What grows with the fleet');
});

t.test('the costs of parts are those of the stored run', async (t) => {
  const costs = read('docs/scale.md').matchAll(
    /^\| [A-Z]\d \| .*? \| ([\d.,]+) (µs|B|kB|a second).*? \| `(.*?)` \|/gm,
  );
  let compared = 0;
  for (const [, figure = '', unit, line = ''] of costs) {
    const value = run.rows.find(({ name }) => name.includes(line))?.value;
    if (value === undefined || value === null) continue;
    const told = Number(figure.replaceAll(',', '')) * (unit === 'kB' ? 1_000 : 1);
    t.ok(Math.abs(told - value) <= 0.05 * value, `${line}: ${told} told, ${value} measured`);
    compared += 1;
  }
  t.ok(compared > 8, `${compared} are compared`);
});

t.test('a page without a place for the table is refused', async (t) => {
  t.throws(() => documentRun(run, () => '# Performance\n'), {
    message: 'docs/performance.md has no place for the table',
  });
});
