/** What an import recognises, and what it says of a file that holds no list. */
import t from 'tap';
import { PLAIN_SERVICE } from '../../../src/cli/import/listed-service.ts';
import { readImport, readImportFile } from '../../../src/cli/import/read-import.ts';

t.test('it reads CSV with any order of columns', async (t) => {
  const text =
    '\uFEFFName,Domain,kind,category,colour\n"Shop, the big one",shop.example,health,ecommerce,red\n,bücher.de,,,\nHome,Localhost,,\nBad,,,\nMore,more.example,,,,x\n';
  t.same(readImport(text, 'list.csv'), {
    format: 'csv',
    services: [
      {
        ...PLAIN_SERVICE,
        domain: 'shop.example',
        name: 'Shop, the big one',
        kind: 'health',
        category: 'ecommerce',
      },
      { ...PLAIN_SERVICE, domain: 'xn--bcher-kva.de', name: 'xn--bcher-kva.de' },
      // What may be named depends on the account.
      { ...PLAIN_SERVICE, domain: 'localhost', name: 'Home' },
      { ...PLAIN_SERVICE, domain: 'more.example', name: 'More' },
    ],
    items: [],
    skipped: [{ entry: 'Bad', reason: 'it has no domain' }],
    notCarried: [
      { entry: 'Shop, the big one', field: 'colour', reason: 'it is not known' },
      { entry: 'More', field: 'column 6', reason: 'it is not known' },
    ],
  });
});

t.test(
  'a file of any length may repeat one set of defaults, and no short one expands without end',
  async (t) => {
    const endpoints = Array.from(
      { length: 2_000 },
      (_, number) =>
        `  - { <<: *defaults, name: n${number}, url: "https://n${number}.example/", client: *client }`,
    );
    const text = `x: &defaults { interval: 1m, enabled: yes }\ny: &client { timeout: 2s }\nendpoints:\n${endpoints.join('\n')}`;
    t.equal(readImport(text, 'gatus.yaml').services.length, 2_000);
    const bomb = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}, *a${at}]`);
    for (const bad of [
      `a0: &a0 [x]\n${bomb.join('\n')}\nendpoints: *a30`,
      'endpoints: &a\n  - *a',
      `a0: &a0 {k0: 1}\n${Array.from({ length: 2_000 }, (_, at) => `a${at + 1}: &a${at + 1} {<<: *a${at}, k${at + 1}: 1}`).join('\n')}`,
    ])
      t.throws(() => readImport(bad, 'gatus.yaml'), { code: 'bad_import' });
  },
);

t.test('it says what is wrong with a file that holds no list', async (t) => {
  t.throws(() => readImport('a: [', 'x.yaml'), {
    code: 'bad_import',
    message: /^x\.yaml is neither JSON nor YAML/,
  });
  for (const text of ['{"a":1}', '[]extra', 'null', '3', '"services"'])
    t.throws(() => readImport(text, 'x.json'), { code: 'bad_import' });
  t.throws(() => readImport('a,b\n1,2\n', 'x.csv'), { code: 'bad_import', message: /"domain" \(Upbeat\)/ });
  for (const mark of [',', ';', '\t'])
    t.match(readImport(`domain${mark}name\nshop.example.com${mark}Shop\n`, 'x.csv'), {
      services: [{ domain: 'shop.example.com', name: 'Shop' }],
    });
});

t.test('a file may be in UTF-16, as PowerShell writes what a command prints', async (t) => {
  const text = '\uFEFFendpoints:\r\n- { name: Küche, url: "https://one.example/" }\r\n';
  const folder = t.testdir({ 'gatus.yaml': Buffer.from(text, 'utf16le') });
  const { services } = await readImportFile(`${folder}/gatus.yaml`, 0);
  t.match(services, [{ name: 'Küche', domain: 'one.example' }]);
});
