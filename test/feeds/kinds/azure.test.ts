import { readFileSync } from 'node:fs';
import t from 'tap';
import { FeedFormatError } from '../../../src/feeds/feed-kind.ts';
import { azure } from '../../../src/feeds/kinds/rss.ts';
import { at, readDocument, WRONG_DOCUMENTS } from './read-document.ts';

const PAGE = { pageUrl: 'https://azure.status.microsoft/en-us/status', feedUrl: null };

function read(name: string) {
  const body = readFileSync(new URL(`../fixtures/${name}.xml`, import.meta.url));
  return readDocument(azure, 'feed', body, PAGE);
}

t.test('it asks for the feed below the page', async (t) => {
  for (const [pageUrl, feedUrl, url] of [
    [PAGE.pageUrl, null, 'https://azure.status.microsoft/en-us/status/feed/'],
    [`${PAGE.pageUrl}/`, null, 'https://azure.status.microsoft/en-us/status/feed/'],
    [
      PAGE.pageUrl,
      'https://rssfeed.azure.status.microsoft/feed/',
      'https://rssfeed.azure.status.microsoft/feed/',
    ],
  ] as const)
    t.same(
      azure.addresses({ pageUrl, feedUrl }).map(({ name, url }) => ({ name, url })),
      [{ name: 'feed', url }],
    );
});

t.test('it reads what is open: an entry without a state is open however old it is', async (t) => {
  const base = { kind: 'incident', sourceUrl: PAGE.pageUrl, components: null, severity: 'major' };
  t.same(read('azure'), {
    listsOnlyOpen: true,
    entries: [
      {
        ...base,
        components: ['Virtual Machines', 'West Europe'],
        key: 'ex-1 2026-09-20T09:40:00.000Z',
        title: 'Virtual Machines - West Europe',
        updates: [
          {
            at: at('09:40'),
            status: 'investigating',
            text: 'Impact Statement: Starting at 09:30 UTC, virtual machines may not start.\nCurrent Status: A team looks into it.',
          },
        ],
        status: 'investigating',
        startedAt: at('09:40'),
        resolvedAt: null,
      },
      {
        ...base,
        key: 'ex-2 2026-09-20T08:00:00.000Z',
        title: 'Storage - East US',
        updates: [{ at: at('10:30'), status: 'resolved', text: 'Storage works again.' }],
        status: 'resolved',
        startedAt: at('08:00'),
        resolvedAt: at('10:30'),
      },
      {
        ...base,
        key: 'ex-3 2026-09-17T08:00:00.000Z',
        title: 'Azure DNS',
        updates: [{ at: at('2026-09-17T08:00:00Z'), status: 'investigating', text: 'Names are not found.' }],
        status: 'investigating',
        startedAt: at('2026-09-17T08:00:00Z'),
        resolvedAt: null,
      },
    ],
  });
});

t.test('a feed without items says that all is well', async (t) => {
  t.same(read('azure-empty'), { listsOnlyOpen: true, entries: [] });
});

t.test(
  'it refuses documents that are not its feed: what is missing in it would count as ended',
  async (t) => {
    for (const [document] of WRONG_DOCUMENTS)
      t.throws(() => readDocument(azure, 'feed', document, PAGE), FeedFormatError);
    t.throws(
      () => readDocument(azure, 'feed', '<feed xmlns="http://www.w3.org/2005/Atom"/>', PAGE),
      /no RSS/,
    );
    t.throws(() => readDocument(azure, 'feed', '<rss><channel>', PAGE), /ends before its end/);
  },
);
