/** Zscaler's pages: what is read of them, and what is refused. */
import t from 'tap';
import { zscaler } from '../../../src/feeds/kinds/zscaler.ts';
import { at, PAGE, readDocument, refusesOthers } from './read-document.ts';

const CLOUD = { ...PAGE, feedUrl: 'https://trust.zscaler.com/api/cloud-status?cloud=zsn' };

t.test('Zscaler: an event of several services is one, and advice is none', async (t) => {
  const event = (id: string, severityTid: string) => ({
    ...{ id, severityTid, title: 'Slow pages', status: 'In Progress', from: 'Sun, 20 Sep 2026 09:00:00 UTC' },
    ...{ description: '<p>No times</p>', alias: 'javascript:alert(1)' },
  });
  const part = (tid: string, ...events: readonly object[]) => ({
    tid,
    name: `P${tid}`,
    category_status: events,
  });
  const document = {
    data: {
      severity: [
        { tid: '20', name: 'Service Disruption' },
        { tid: '641', name: 'Security Advisory' },
      ],
      category: [
        { subCategory: [part('1', event('7', '20'), event('8', '641')), part('2', event('7', '20'))] },
        { subCategory: null },
      ],
    },
  };
  const { entries } = readDocument(zscaler, 'cloud', document, CLOUD);
  t.equal(entries.length, 1);
  t.match(entries, [
    {
      ...{ key: '7', severity: 'major', status: 'investigating', startedAt: at('09:00') },
      ...{ components: ['P1', '1', 'P2', '2'], sourceUrl: PAGE.pageUrl, updates: [] },
    },
  ]);
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, zscaler, { source: CLOUD });
  t.throws(() => zscaler.addresses(PAGE), /feedUrl/);
});
