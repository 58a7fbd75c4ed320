/** Systems of cState as services and a page. */
import { join } from 'node:path';
import t from 'tap';
import { readImportFile } from '../../../src/cli/import/read-import.ts';
import { listsOf, reasonsOf, summaryOf } from './reading-summaries.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');

const fixture = (name: string) => readImportFile(join(FIXTURES, name), 0);

t.test('it reads the systems of cState that have a link, and its page', async (t) => {
  const { format, services, items, skipped, notCarried } = await fixture('cstate-config.yml');
  t.equal(format, 'cstate');
  t.strictSame(summaryOf(services), [
    ['Backup Gateway', 'root', 'https://gateway.eggsample.example/health', null],
    ['Website', 'root', 'eggsample.example', null],
  ]);
  t.match(listsOf(items), [
    [
      'pages',
      {
        ...{ slug: 'eggsample-status', title: 'Eggsample Status', text: /^We continuously/ },
        ...{ brand_colour: '#0a0c0f', custom_domain: 'status.eggsample.example' },
        groups: [{ name: 'North Coast', services: ['Backup Gateway'] }, { services: ['Website'] }],
      },
    ],
  ]);
  t.same(reasonsOf(skipped), ['Gateway', 'API']);
  t.same(reasonsOf(notCarried), ['the file: logo', 'the file: categories.description']);
});
