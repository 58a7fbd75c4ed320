/** Upbeat's own CSV, YAML and JSON in imports, and what they cannot mean. */
import fc from 'fast-check';
import t from 'tap';
import { PLAIN_SERVICE } from '../../../src/cli/import/listed-service.ts';
import { exportServices, readCell, writeCell } from '../../../src/cli/import/own-form.ts';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { NO_MEMORY } from '../../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../../src/domain/service.ts';
import { unknownStatus } from '../../../src/domain/status/current.ts';
import { service } from '../../site/site-world.ts';
import { anyText } from '../../support/any-text.ts';

t.test('it reads our own YAML and JSON, with the check of a catalogue entry', async (t) => {
  const expected = {
    format: 'upbeat',
    services: [
      {
        ...PLAIN_SERVICE,
        domain: 'a.example',
        name: 'A',
        url: 'https://a.example/x',
        method: 'GET',
        accept: ['2xx', 401],
      },
      {
        ...PLAIN_SERVICE,
        ...{ domain: 'b.example', name: 'b.example', kind: 'heartbeat', category: 'ai' },
        ...{ paused: true, periodMs: 90_000, graceMs: 3_600_000, publicDependencies: true },
      },
      {
        ...PLAIN_SERVICE,
        ...{ domain: 'c.example', name: 'c.example', kind: 'heartbeat' },
        schedule: { cron: '30 3 * * 1-5', timezone: 'Europe/Berlin' },
      },
    ],
    items: [],
    skipped: [],
    notCarried: [{ entry: 'A', field: 'check.caFile', reason: 'it is not known' }],
  };
  const services = [
    {
      domain: 'a.example',
      name: 'A',
      check: { url: 'https://a.example/x', method: 'GET', accept: ['2xx', 401], caFile: 'x.pem' },
    },
    {
      ...{ domain: 'b.example', kind: 'heartbeat', category: 'ai', paused: true },
      ...{ period: '90s', grace: '1h', public_dependencies: true },
    },
    { domain: 'c.example', kind: 'heartbeat', schedule: '30 3 * * 1-5', timezone: 'Europe/Berlin' },
  ];
  t.same(readImport(JSON.stringify({ services }), 'x.json'), expected);
  t.same(readImport(`\uFEFF${JSON.stringify(services)}`, 'x.json'), expected);
});

t.test('it reads the services of a file of apply, and names what it leaves out', async (t) => {
  const document = {
    services: [
      { domain: 'a.example', publicDependencies: true, check: { kind: 'tcp', settings: { port: 443 } } },
    ],
    pages: [{ slug: 'acme', title: 'Acme' }],
  };
  t.match(readImport(JSON.stringify(document), 'x.json'), {
    services: [{ domain: 'a.example', kind: 'tcp', settings: { port: 443 }, publicDependencies: true }],
    skipped: [],
    notCarried: [{ entry: 'the file', field: 'pages', reason: /"upbeat apply" reads pages/ }],
  });
});

t.test('it refuses what our own form cannot mean', async (t) => {
  const rows: readonly [object, RegExp][] = [
    [{ kind: 'ping' }, /kind "ping" is not known/],
    [{ category: 'constructor' }, /category "constructor" is not known/],
    [{ accept: ['10xx'] }, /accept must list/],
    [{ url: 'ftp://a.example' }, /must begin with http/],
    [{ url: 'https://user:secret@a.example/' }, /must begin with http/],
    [{ period: 'often' }, /durations/],
    [{ schedule: 'daily' }, /cron expression/],
    [{ schedule: '0 0 30 2 *' }, /never occurs/],
    [{ schedule: '@daily', timezone: 'Mars' }, /no such time zone/],
    [{ timezone: 'UTC' }, /needs a schedule/],
    [{ period: '1h', schedule: '@daily' }, /either a period or a schedule/],
    [{ paused: 'perhaps' }, /true or false/],
  ];
  for (const [row, reason] of rows)
    t.match(readImport(JSON.stringify([{ domain: 'a.example', ...row }]), 'x.json').skipped, [{ reason }]);
});

t.test('it writes cells that no spreadsheet computes, and reads them back as they were', async (t) => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', "'=1", "''-1", '\t=1', '\r=1', '=\u202e1'])
    t.match(writeCell(text), /^'|^\\u/, JSON.stringify(text));
  for (const text of ['plain', "it's", "'quoted'", 'a=b', '2xx 401', 'back\\slash', 'Ünïcode'])
    t.equal(writeCell(text), text, 'what is harmless stays as it is');
  const any = fc.string({
    unit: fc.constantFrom("'", '=', '-', '\\', 'u', '{', '}', '4', '\u202e', '\u001b', 'x', '\n'),
  });
  fc.assert(fc.property(any, (text) => readCell(writeCell(text)) === text));
  fc.assert(fc.property(anyText(), (text) => readCell(writeCell(text)) === text));
  t.equal(readCell('\\u{FFFFFF}'), '\\u{FFFFFF}');
});

t.test('it reads and writes times and regions in our own form', async (t) => {
  const members = {
    interval: '30s',
    timeout: '5s',
    slowOver: '800ms',
    confirmAfter: ['1s', '2s'],
    regions: ['eu', 'us'],
  };
  const choice = {
    ...{ intervalMs: 30_000, timeoutMs: 5_000, slowOverMs: 800 },
    ...{ confirmAfterMs: [1_000, 2_000], regions: ['eu', 'us'] },
  };
  for (const row of [members, { check: members }, { ...members, confirmAfter: '1s 2s', regions: 'eu us' }]) {
    const { services, notCarried } = readImport(JSON.stringify([{ domain: 'a.example', ...row }]), 'x.json');
    t.strictSame([services[0]?.choice, notCarried], [choice, []]);
  }
  const state = {
    service: service(1, 'a', {
      origin: 'owner',
      accountId: 1,
      check: { ...DEFAULT_CHECK, ...choice, confirmAfterMs: [] },
    }),
    ...{ current: unknownStatus(1), memory: NO_MEMORY, openIncident: null },
  };
  for (const format of ['csv', 'yaml', 'json'] as const) {
    const { services } = readImport(await exportServices([state], format), `x.${format}`);
    t.strictSame(services[0]?.choice, { ...choice, confirmAfterMs: [] }, format);
  }
  t.match(
    readImport(JSON.stringify([{ domain: 'a.example', interval: '500ms', regions: 'EU' }]), 'x.json').skipped,
    [
      {
        reason: 'regions must be names of regions such as "eu us", interval must be at least 1s',
      },
    ],
  );
});
