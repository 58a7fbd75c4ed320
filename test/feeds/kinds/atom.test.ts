import { readFileSync } from 'node:fs';
import t from 'tap';
import { FeedFormatError } from '../../../src/feeds/feed-kind.ts';
import { atom } from '../../../src/feeds/kinds/atom.ts';
import { at, PAGE, readDocument, WRONG_DOCUMENTS } from './read-document.ts';

function read(name: string) {
  return readDocument(atom, 'feed', readFileSync(new URL(`../fixtures/${name}.xml`, import.meta.url)));
}

t.test('it asks for the feed where it is, else where most makers put it', async (t) => {
  for (const [feedUrl, url] of [
    [null, 'https://status.example.com/history.atom'],
    ['https://status.example.com/en/feed.atom', 'https://status.example.com/en/feed.atom'],
  ] as const)
    t.same(
      atom.addresses({ ...PAGE, feedUrl }).map(({ name, url }) => ({ name, url })),
      [{ name: 'feed', url }],
    );
});

t.test('it reads Statuspage', async (t) => {
  t.same(read('atom-statuspage'), {
    listsOnlyOpen: false,
    entries: [
      {
        kind: 'incident',
        key: 'https://status.example.com/incidents/k1',
        title: 'Critical outage of search',
        sourceUrl: 'https://status.example.com/incidents/k1',
        components: null,
        updates: [
          { at: at('08:02'), status: 'investigating', text: 'Search does not answer.' },
          { at: at('08:40'), status: 'monitoring', text: 'A fix is out.' },
        ],
        severity: 'critical',
        status: 'monitoring',
        startedAt: at('08:02'),
        resolvedAt: null,
      },
    ],
  });
});

t.test('it reads incident.io: entries that are rewritten with each update', async (t) => {
  t.same(read('atom-incidentio').entries, [
    {
      kind: 'incident',
      key: 'tag:status.example.io,2026:i/10',
      title: 'Exports wait',
      sourceUrl: PAGE.pageUrl,
      components: null,
      updates: [{ at: at('11:00'), status: 'monitoring', text: 'Exports run again & are sent.' }],
      severity: 'minor',
      status: 'monitoring',
      startedAt: at('11:00'),
      resolvedAt: null,
    },
    {
      kind: 'incident',
      key: 'https://status.example.com/incidents/9',
      title: 'API ‹v2› errors',
      sourceUrl: 'https://status.example.com/incidents/9',
      components: null,
      updates: [{ at: at('10:00'), status: 'resolved', text: 'Recovered.' }],
      severity: 'minor',
      status: 'resolved',
      startedAt: at('09:13'),
      resolvedAt: at('10:00'),
    },
  ]);
});

t.test('it reads dashboards that tell the state in the title', async (t) => {
  t.match(read('atom-google').entries, [
    {
      key: 'https://status.search.example/incidents/AbC',
      title: 'Ranking is delayed',
      status: 'resolved',
      startedAt: at('2026-09-17T17:00:00Z'),
      resolvedAt: at('2026-09-18T17:00:00Z'),
      updates: [{ status: 'investigating' }, { status: 'resolved' }],
    },
  ]);
});

t.test('it refuses documents that are no feeds', async (t) => {
  for (const [document] of WRONG_DOCUMENTS)
    t.throws(() => readDocument(atom, 'feed', document), FeedFormatError);
});
