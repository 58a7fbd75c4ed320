/** Settings of checks: what texts and files mean, and that every setting has a text and a line in the documentation. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROBED_KINDS } from '../../src/domain/service.ts';
import {
  portOf,
  settingFields,
  settingsOfTexts,
  settingTexts,
  validateSettings,
} from '../../src/kinds/settings.ts';
import { englishChecks } from '../../src/web/language/english-checks.ts';
import { germanChecks } from '../../src/web/language/german-checks.ts';

t.test('every setting has a label in each language, and a row in the documentation', async (t) => {
  const document = readFileSync(join(import.meta.dirname, '../../docs/checks.md'), 'utf8');
  const names = new Set<string>();
  const sectionOf = (title: string) => document.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  for (const kind of PROBED_KINDS) {
    let described = sectionOf(`\`${kind}\``);
    // Settings of several kinds stand once, in a section that the others link to.
    for (const title of ['Servers with a protocol of their own', 'Client certificates'])
      if (described.includes(`(#${title.toLowerCase().replaceAll(' ', '-')})`)) described += sectionOf(title);
    for (const { name } of settingFields(kind)) {
      names.add(name);
      t.match(described, `| \`${name}\` |`, `${kind}: ${name}`);
    }
  }
  t.same([...englishChecks.setting.keys()].sort(), [...names].sort());
  t.same([...germanChecks.setting.keys()].sort(), [...names].sort());
});

t.test('it reads texts by the types of the schema, and writes them back', async (t) => {
  const texts = { port: '25', banner: '220 ' };
  const read = settingsOfTexts('tcp', texts);
  t.strictSame(read, { port: 25, banner: '220 ' });
  t.strictSame(settingTexts({ port: 25, banner: '220 ' }), texts);
  t.strictSame(settingsOfTexts('tcp', { port: '', banner: null }), { port: null, banner: null });
  const http = {
    assertions: 'status is 200\r\n \n time below 3',
    username: '',
    token: null,
    plain: 'true',
    x: 'y',
  };
  t.strictSame(settingsOfTexts('http', http), {
    ...{ assertions: ['status is 200', 'time below 3'], token: null, plain: true, x: 'y' },
  });
});

t.test('it refuses what the schema does not allow', async (t) => {
  const limit = (keyword: string, at: number) => ({ code: 'limit', keyword, limit: at });
  const rows: readonly (readonly [
    Parameters<typeof validateSettings>,
    readonly (readonly [string, object])[],
  ])[] = [
    [['tcp', {}], [['port', { code: 'missing' }]]],
    [['tcp', { port: 0 }], [['port', limit('minimum', 1)]]],
    [['tcp', { port: 1.5 }], [['port', { code: 'type', type: 'integer' }]]],
    [['tcp', { port: 1, banner: '' }], [['banner', limit('minLength', 1)]]],
    [['tls', { constructor: 1 }], [['constructor', { code: 'unknown' }]]],
    [['tls', []], [['', { code: 'type', type: 'object' }]]],
    [['root', { port: 1 }], [['port', { code: 'unknown' }]]],
    [['heartbeat', { port: 1 }], [['port', { code: 'unknown' }]]],
  ];
  for (const [[kind, given], expected] of rows) {
    const reading = validateSettings(kind, given);
    const wrong = reading.ok ? [] : reading.wrong.map(({ setting, problem }) => [setting, problem]);
    t.strictSame(wrong, expected, `${kind} ${JSON.stringify(given)}`);
  }
});

t.test('a check at a socket connects to no port', async (t) => {
  t.equal(portOf('docker', { container: 'web' }), null);
  t.equal(portOf('docker', { container: 'web', port: 2375 }), 2375);
  t.equal(portOf('tcp', { port: 25 }), 25);
});
