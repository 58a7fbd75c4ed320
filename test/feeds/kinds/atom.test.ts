import { readFileSync } from 'node:fs';
import t from 'tap';
import { FeedFormatError } from '../../../src/feeds/feed-kind.ts';
import { atom } from '../../../src/feeds/kinds/rss.ts';
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

function readEntry(fields: string) {
  const document = `<feed xmlns="http://www.w3.org/2005/Atom"><entry>${fields}</entry></feed>`;
  return readDocument(atom, 'feed', document).entries;
}

t.test('a maintenance of Instatus that is announced early is planned until its start', async (t) => {
  const announced = (published: string) =>
    readEntry(
      `<id>tag:x,2005:Maintenance/m1</id><title>Upgrade</title><published>${published}</published>
      <updated>2026-09-10T08:00:00.000+00:00</updated><link href="https://status.example.com/maintenance/m1"/>
      <content type="html"><![CDATA[<p><strong>Type:</strong> Maintenance</p><p><small>Sep <var data-var='date'> 10</var>,
      <var data-var='time'>08:00:00</var> GMT+0</small><br /><strong>Identified</strong> - We plan an upgrade.</p>]]></content>`,
    );
  t.match(announced('2026-09-25T06:00:00.000+00:00'), [
    { kind: 'maintenance', state: 'planned', startsAt: at('2026-09-25T06:00:00Z') },
  ]);
  t.match(announced('2026-09-20T06:00:00.000+00:00'), [
    { kind: 'maintenance', state: 'running', startsAt: at('06:00') },
  ]);
});

t.test('an entry of incident.io began when its identifier was made', async (t) => {
  const ulid = `${ulidTime(at('08:00'))}ABCDEFGHJKMNPQRS`;
  const entry = (updated: string) =>
    readEntry(
      `<id>https://status.example.com/incidents/${ulid}</id><title>Errors</title><updated>${updated}</updated>
      <link href="https://status.example.com/incidents/${ulid}"/><content type="html">&lt;b&gt;Status: Monitoring&lt;/b&gt;&lt;br/&gt;x</content>`,
    );
  t.match(entry('2026-09-20T11:00:00Z'), [{ startedAt: at('08:00'), status: 'monitoring' }]);
  t.match(entry('2026-09-20T07:00:00Z'), [{ startedAt: at('07:00') }], 'never after the change');
});

t.test('a sentence of Google tells when it began and ended, in local time', async (t) => {
  const entry = (span: string) =>
    readEntry(
      `<id>tag:g:a</id><title>RESOLVED: Errors</title><updated>2026-09-19T08:00:00Z</updated>
      <summary type="html">&lt;p&gt; Incident began at &lt;strong&gt;${span}&lt;/span&gt;&lt;/p&gt;&lt;p&gt;It is over.&lt;/p&gt;
      &lt;hr&gt;&lt;p&gt;Affected products: Gmail, Google Drive&lt;/p&gt;&lt;p&gt;Affected locations: Global&lt;/p&gt;</summary>`,
    );
  const zone = '&lt;span&gt;(all times are &lt;strong&gt;US/Pacific&lt;/strong&gt;).';
  t.match(
    entry(
      `2026-09-18 08:30&lt;/strong&gt; and ended at &lt;strong&gt;2026-09-18 15:54&lt;/strong&gt; ${zone}`,
    ),
    [
      {
        startedAt: at('2026-09-18T15:30:00Z'),
        resolvedAt: at('2026-09-18T22:54:00Z'),
        components: ['Gmail', 'Google Drive', 'Global'],
      },
    ],
  );
  t.match(entry(`2026-01-18 08:30&lt;/strong&gt; ${zone}`), [{ startedAt: at('2026-01-18T16:30:00Z') }]);
});

/** The ten characters with which a ULID of a time begins. */
function ulidTime(time: number): string {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return Array.from({ length: 10 }, (_, place) => digits[Math.floor(time / 32 ** (9 - place)) % 32]).join('');
}
