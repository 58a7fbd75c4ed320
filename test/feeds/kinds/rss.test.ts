import { readFileSync } from 'node:fs';
import t from 'tap';
import type { FeedEntry } from '../../../src/domain/incident/feed-entry.ts';
import { FeedFormatError } from '../../../src/feeds/feed-kind.ts';
import { rss } from '../../../src/feeds/kinds/rss.ts';
import { at, NOW, PAGE, readDocument, WRONG_DOCUMENTS } from './read-document.ts';

function read(name: string): readonly FeedEntry[] {
  const body = readFileSync(new URL(`../fixtures/${name}.xml`, import.meta.url));
  const { entries, listsOnlyOpen } = readDocument(rss, 'feed', body);
  t.equal(listsOnlyOpen, false);
  return entries;
}

/** A feed of items: each a list of element name and content. */
function feed(...items: Readonly<Record<string, string>>[]): string {
  const written = items.map((item) => {
    const fields = Object.entries(item).map(([name, text]) => `<${name}><![CDATA[${text}]]></${name}>`);
    return `<item>${fields.join('')}</item>`;
  });
  return `<rss version="2.0"><channel><link>https://status.example.com/</link>${written.join('')}</channel></rss>`;
}

function readItems(...items: Readonly<Record<string, string>>[]): readonly FeedEntry[] {
  return readDocument(rss, 'feed', feed(...items)).entries;
}

const TODAY = { guid: 'g', title: 'A fault', pubDate: 'Sun, 20 Sep 2026 10:00:00 GMT' };

t.test('it asks for the feed where it is, else where most makers put it', async (t) => {
  for (const [pageUrl, feedUrl, url] of [
    ['https://status.example.com', null, 'https://status.example.com/history.rss'],
    ['https://www.example.com/status/', null, 'https://www.example.com/status/history.rss'],
    [
      'https://status.example.com',
      'https://status.example.com/feed.rss?x=1',
      'https://status.example.com/feed.rss?x=1',
    ],
  ] as const)
    t.same(
      rss.addresses({ pageUrl, feedUrl }).map(({ name, url }) => ({ name, url })),
      [{ name: 'feed', url }],
    );
});

t.test(
  'it reads Statuspage: the updates in the text become the timeline, scheduled events maintenances',
  async (t) => {
    t.same(read('rss-statuspage'), [
      {
        kind: 'maintenance',
        key: 'https://status.example.com/incidents/m1',
        title: 'Database upgrade',
        sourceUrl: 'https://status.example.com/incidents/m1',
        components: null,
        updates: [{ at: at('2026-09-18T09:00:00Z'), status: 'identified', text: 'We move to new servers.' }],
        startsAt: at('2026-09-24T22:00:00Z'),
        endsAt: at('2026-09-25T02:00:00Z'),
        state: 'planned',
      },
      {
        kind: 'incident',
        key: 'https://status.example.com/incidents/k1',
        title: 'API errors & delays',
        sourceUrl: 'https://status.example.com/incidents/k1',
        components: null,
        updates: [
          { at: at('17:02'), status: 'investigating', text: 'We are looking into errors of the API.' },
          { at: at('17:20'), status: 'identified', text: 'A bad ‹config› was rolled out.' },
          { at: at('17:40'), status: 'identified', text: 'Error rates fall.\nLatency is still high.' },
          { at: at('18:10'), status: 'resolved', text: 'This incident has been resolved.' },
        ],
        severity: 'minor',
        status: 'resolved',
        startedAt: at('17:02'),
        resolvedAt: at('18:10'),
      },
      {
        kind: 'maintenance',
        key: 'https://status.example.com/incidents/m0',
        title: 'Network maintenance',
        sourceUrl: 'https://status.example.com/incidents/m0',
        components: null,
        // The year of each time is the one nearest to the item's own.
        updates: [
          { at: at('2025-12-20T08:00:00Z'), status: 'identified', text: 'New switches.' },
          { at: at('2025-12-31T23:00:00Z'), status: 'identified', text: 'Work has begun.' },
          {
            at: at('2026-01-01T00:50:00Z'),
            status: 'resolved',
            text: 'The scheduled maintenance has been completed.',
          },
        ],
        startsAt: at('2025-12-31T23:00:00Z'),
        endsAt: at('2026-01-01T00:50:00Z'),
        state: 'done',
      },
    ]);
  },
);

t.test('it reads Instatus', async (t) => {
  t.same(read('rss-instatus'), [
    {
      kind: 'incident',
      key: 'https://status.example.app/incident/cl01',
      title: 'Slow dashboard',
      sourceUrl: 'https://status.example.app/incident/cl01',
      components: ['Dashboard', 'Public API'],
      updates: [
        { at: at('09:40'), status: 'investigating', text: 'Pages load slowly.' },
        { at: at('10:12'), status: 'resolved', text: 'The dashboard is quick again.' },
      ],
      severity: 'minor',
      status: 'resolved',
      startedAt: at('09:40'),
      resolvedAt: at('10:12'),
    },
    {
      kind: 'maintenance',
      key: 'https://status.example.app/maintenance/cm01',
      title: 'Move of the cache',
      sourceUrl: 'https://status.example.app/maintenance/cm01',
      components: ['Cache'],
      updates: [
        { at: at('2026-09-19T07:00:00Z'), status: 'identified', text: 'We begin.' },
        { at: at('2026-09-19T08:00:00Z'), status: 'resolved', text: 'Done.' },
      ],
      startsAt: at('2026-09-19T07:00:00Z'),
      endsAt: at('2026-09-19T08:00:00Z'),
      state: 'done',
    },
  ]);
});

t.test('it reads incident.io: the newest state, and the parts with theirs', async (t) => {
  const link = 'https://status.example.io//incidents/';
  t.same(read('rss-incidentio'), [
    {
      kind: 'incident',
      key: `${link}01K7GHIJKL`,
      title: 'Sign-in fails',
      sourceUrl: `${link}01K7GHIJKL`,
      components: null,
      updates: [{ at: at('11:30'), status: 'identified', text: 'A certificate ran out.' }],
      severity: 'minor',
      status: 'identified',
      startedAt: at('11:30'),
      resolvedAt: null,
    },
    {
      kind: 'incident',
      key: `${link}01K7ABCDEF`,
      title: 'Elevated errors',
      sourceUrl: `${link}01K7ABCDEF`,
      components: ['Chat', 'API'],
      updates: [
        { at: at('09:54'), status: 'resolved', text: 'All impacted services have now fully recovered.' },
      ],
      severity: 'major',
      status: 'resolved',
      startedAt: at('09:54'),
      resolvedAt: at('09:54'),
    },
  ]);
});

t.test('it folds the updates of Better Stack, which are items of their own', async (t) => {
  const page = 'https://status.example.net/';
  t.same(read('rss-betterstack'), [
    {
      kind: 'incident',
      key: '5b8d',
      title: 'Uploads fail',
      sourceUrl: page,
      components: null,
      updates: [{ at: at('11:50'), status: 'investigating', text: 'Uploads answer with errors.' }],
      severity: 'minor',
      status: 'investigating',
      startedAt: at('11:50'),
      resolvedAt: null,
    },
    {
      kind: 'incident',
      key: `${page}incident/77`,
      title: 'Delayed jobs',
      sourceUrl: page,
      components: null,
      updates: [
        { at: at('10:00'), status: 'investigating', text: 'We are investigating late jobs.' },
        { at: at('10:30'), status: 'investigating', text: 'Queue is draining.' },
        {
          at: at('11:00'),
          status: 'resolved',
          text: 'The queue is drained. This incident has been resolved.',
        },
      ],
      severity: 'minor',
      status: 'resolved',
      startedAt: at('10:00'),
      resolvedAt: at('11:00'),
    },
  ]);
});

t.test('it reads Status.io', async (t) => {
  t.match(read('rss-statusio'), [
    {
      kind: 'maintenance',
      title: 'Upgrade of runners',
      startsAt: at('2026-09-22T06:00:00Z'),
      endsAt: at('2026-09-22T08:00:00Z'),
      state: 'planned',
    },
    {
      kind: 'incident',
      key: 'https://status.example.org/pages/incident/5b36dc/66f001',
      status: 'monitoring',
      startedAt: at('10:05'),
      resolvedAt: null,
      updates: [
        { at: at('10:05'), status: 'investigating', text: 'Pipelines start late.' },
        { at: at('10:45'), status: 'monitoring', text: 'A fix is out.' },
      ],
    },
  ]);
});

t.test('it reads texts that begin with their state', async (t) => {
  t.match(read('rss-mistral'), [
    { key: 'm-2', status: 'investigating', resolvedAt: null, updates: [{ text: '' }] },
    {
      key: 'm-1',
      status: 'resolved',
      resolvedAt: at('09:00'),
      updates: [{ text: 'We rolled the change back.' }],
    },
  ]);
});

t.test('a feed of parts lists those that are not well, whatever time they are stamped with', async (t) => {
  const page = 'https://us.example-status.com/';
  const part = (title: string) => ({ key: title, title, components: [title], sourceUrl: page });
  t.match(read('rss-zoho'), [
    { ...part('Example CRM'), kind: 'incident', severity: 'major', status: 'investigating' },
    { ...part('Example Desk'), kind: 'incident', severity: 'minor', status: 'investigating' },
    { ...part('Example Books'), kind: 'maintenance', state: 'running', startsAt: at('09:00') },
  ]);
  t.equal(read('rss-zoho').length, 3);
});

t.test('it reads times with slashes where the feed tells the order of month and day', async (t) => {
  const late = { guid: 'a', title: 'Resolved: A fault', pubDate: '9/20/2026 8:00 AM' };
  const early = { guid: 'b', title: 'Resolved: Another fault', pubDate: '9/2/2026 9:30:00 PM' };
  t.match(
    readItems(late, early).map(({ title, ...entry }) => [
      title,
      'startedAt' in entry ? entry.startedAt : null,
    ]),
    [
      ['A fault', Date.UTC(2026, 8, 20, 8)],
      ['Another fault', Date.UTC(2026, 8, 2, 21, 30)],
    ],
  );
  t.same(readItems(early), [], 'the ninth of February or the second of September');
});

t.test('an entry without a state is open for a day, then counts as resolved', async (t) => {
  t.match(read('rss-stateless'), [
    { title: 'No time, but open', startedAt: null, status: 'investigating' },
    { title: 'Library catalogue is slow', status: 'investigating', startedAt: at('07:00') },
    {
      title: 'Mail is late',
      status: 'resolved',
      resolvedAt: at('2026-09-11T07:00:00Z'),
      updates: [
        { status: 'investigating', text: 'Mail waits in a queue.' },
        { at: at('2026-09-11T07:00:00Z'), status: 'resolved', text: /tells no state/ },
      ],
    },
  ]);
  t.equal(read('rss-stateless').length, 3);
  const age = (ms: number) => readDocument(rss, 'feed', feed(TODAY), PAGE, at('10:00') + ms).entries[0];
  t.match(age(86_399_999), { status: 'investigating', resolvedAt: null });
  t.match(age(86_400_000), { status: 'resolved', resolvedAt: at('10:00') + 86_400_000 });
});

t.test('it finds the state wherever a page tells it', async (t) => {
  for (const [item, status] of [
    [{ description: 'Status: Monitoring' }, 'monitoring'],
    [{ description: '<b>Status:</b> Identified<br>x' }, 'identified'],
    [{ description: '<strong>Resolved</strong> - Over.' }, 'resolved'],
    [{ description: 'RESOLVED: over' }, 'resolved'],
    [{ description: 'Postmortem - What happened' }, 'resolved'],
    [{ description: 'Current status: In Progress' }, 'identified'],
    [{ title: '[Resolved] A fault' }, 'resolved'],
    [{ title: 'Monitoring: A fault' }, 'monitoring'],
    [{ title: 'Résolu\u00a0: A fault' }, 'resolved'],
    [{ title: 'A fault - Identified' }, 'identified'],
    [{ title: 'A fault (Resolved)' }, 'resolved'],
    [{ description: 'This incident has been resolved.' }, 'resolved'],
    [{ description: 'The cause has been identified.' }, 'identified'],
    [{ description: 'It works; we are monitoring it.' }, 'monitoring'],
    [{ description: 'We hope that it will be resolved soon.' }, 'investigating'],
    [{ description: 'Customers report that it is not resolved' }, 'investigating'],
    [{ title: 'Resolved names are wrong' }, 'investigating'],
    [{ description: 'Update - Still working' }, 'investigating'],
    [{ description: 'Something else: happened' }, 'investigating'],
  ] as const) {
    const [entry] = readItems({ ...TODAY, ...item });
    const newest = entry?.updates.at(-1)?.status;
    t.equal(newest, status, JSON.stringify(item));
    if (entry?.kind === 'incident') t.equal(entry.status, status, JSON.stringify(item));
  }
  for (const title of ['[Resolved] A fault', 'A fault - Resolved', 'UPDATE: A fault'])
    t.equal(readItems({ ...TODAY, title })[0]?.title, 'A fault');
  t.same(readItems({ ...TODAY, description: 'All systems operational' }), []);
});

t.test('it finds the severity where a page tells it', async (t) => {
  for (const [item, severity] of [
    [{ title: 'Major outage of mail' }, 'major'],
    [{ title: 'Critical incident' }, 'critical'],
    [{ title: 'Major update of the page' }, 'minor'],
    [{ description: 'Severity: Critical' }, 'critical'],
    [{ description: 'Impact: high<br>x' }, 'major'],
    [{ description: 'Impact: low' }, 'minor'],
    [{ description: 'Status: Major Outage' }, 'major'],
    [{ description: 'We resolved a major thing' }, 'minor'],
  ] as const)
    t.match(readItems({ ...TODAY, ...item }), [{ severity }], JSON.stringify(item));
});

t.test('it distinguishes maintenances from incidents', async (t) => {
  const window = 'THIS IS A SCHEDULED EVENT Sep 20, 22:00 - 02:00 PDT';
  for (const [item, expected] of [
    [
      { description: window },
      { startsAt: at('2026-09-21T05:00:00Z'), endsAt: at('2026-09-21T09:00:00Z'), state: 'planned' },
    ],
    [
      { description: 'THIS WAS A SCHEDULED EVENT Sep 20, 11:00 - 13:00 UTC' },
      { startsAt: at('11:00'), endsAt: at('13:00'), state: 'running' },
    ],
    [
      { description: 'Scheduled for 2026-09-19 10:00 UTC - 2026-09-19 11:00 UTC', category: 'maintenance' },
      { startsAt: at('2026-09-19T10:00:00Z'), endsAt: at('2026-09-19T11:00:00Z'), state: 'done' },
    ],
    [
      { title: 'Scheduled maintenance of mail', description: 'Completed - Done.' },
      { startsAt: at('10:00'), state: 'done' },
    ],
    [
      { title: 'Maintenance', description: 'In progress - Now.' },
      { startsAt: at('10:00'), endsAt: null, state: 'running' },
    ],
    [
      { pubDate: 'Mon, 21 Sep 2026 10:00:00 GMT', description: 'Scheduled - Tomorrow.' },
      { startsAt: at('2026-09-21T10:00:00Z'), state: 'planned' },
    ],
    [{ description: 'Type: Maintenance<br>Status: Cancelled' }, { state: 'done' }],
    [
      { link: 'https://status.example.com/maintenance/5' },
      { key: 'https://status.example.com/maintenance/5', state: 'running' },
    ],
  ] as const)
    t.match(readItems({ ...TODAY, ...item }), [{ kind: 'maintenance', ...expected }], JSON.stringify(item));
  // When it will be is not known; the time of the announcement is not it.
  t.same(readItems({ ...TODAY, description: 'Scheduled - One of these days.' }), []);
});

t.test('it knows an entry again by what is its own', async (t) => {
  const page = 'https://status.example.com/';
  for (const [item, key] of [
    [{ guid: 'g', link: page }, 'g'],
    [{ guid: 'g', link: `${page}incidents/7#update-2` }, `${page}incidents/7`],
    [{ guid: `${page}incidents/7#a`, link: page }, `${page}incidents/7`],
    [{ guid: 'incident/7#a', link: page }, 'https://status.example.com/incident/7'],
    [{ guid: page, link: page }, `A fault ${TODAY.pubDate}`],
    [{ guid: '', link: page }, `A fault ${TODAY.pubDate}`],
    [{ guid: `${page}#/incident/7`, link: page }, `${page}#/incident/7`],
    [{ guid: '<b>x', link: 'javascript:alert(1)' }, '‹b›x'],
  ] as const)
    t.match(readItems({ ...TODAY, ...item }), [{ key }], JSON.stringify(item));
  t.match(readItems({ ...TODAY, guid: 'x'.repeat(301) }), [{ key: /^[0-9a-f]{64}$/ }]);
});

t.test('it reads Instatus where a part of the HTML is escaped once more', async (t) => {
  const step = (time: string, state: string) =>
    `&lt;p&gt;&lt;small&gt;Sep &lt;var data-var=&#039;date&#039;&gt; 18&lt;/var&gt;, &lt;var data-var=&#039;time&#039;&gt;${time}&lt;/var&gt; GMT+0&lt;/small&gt;&lt;br&gt;&lt;strong&gt;${state}&lt;/strong&gt; -\n All &amp;amp; sundry.&lt;/p&gt;`;
  const [entry] = readItems({
    ...TODAY,
    pubDate: 'Fri, 18 Sep 2026 10:00:00 +0000',
    description: 'Type: Incident\n\nAffected Components: API, Web\nSep 18, 10:00:00 GMT+0 - Monitoring - x',
    'content:encoded': `<p><strong>Affected Components:</strong> </p>${step('10:00:00', 'Monitoring')}${step('11:30:00', 'Resolved')}`,
  });
  t.match(entry, {
    components: ['API', 'Web'],
    status: 'resolved',
    resolvedAt: at('2026-09-18T11:30:00Z'),
    updates: [
      { status: 'monitoring', text: 'All & sundry.' },
      { status: 'resolved', text: 'All & sundry.' },
    ],
  });
});

t.test('it reads the labels of xAI, and the part before the title', async (t) => {
  const item = (state: string, severity: string) => ({
    ...TODAY,
    title: '[API (us-east-1.api.x.ai)] Requests fail',
    description: `<h3>Status: ${state}</h3><p>Severity: ${severity}</p><hr /><h4>Updates:</h4>
      <div><p><strong>Sun, 20 Sep 2026 10:00:00 GMT</strong></p><h3>Investigating</h3><p>We look into it.</p></div>
      <div><p><strong>Sun, 20 Sep 2026 11:00:00 GMT</strong></p><h3>Updated</h3><p>More.</p></div>`,
  });
  const components = ['API (us-east-1.api.x.ai)'];
  t.match(readItems(item('INVESTIGATING', 'unavailable')), [
    { components, severity: 'major', status: 'investigating', resolvedAt: null },
  ]);
  t.match(readItems(item('RESOLVED', 'available')), [
    { components, severity: 'minor', status: 'resolved', resolvedAt: at('11:00') },
  ]);
});

t.test('a bracket after a part is its state, or a piece of its name', async (t) => {
  const description =
    '<b>Status: Monitoring</b><br/>x<br/><b>Affected components</b><ul><li>API (Degraded performance)</li>' +
    '<li>API 服务 (API Service)</li><li>Chat (web)</li></ul>';
  t.match(readItems({ ...TODAY, description }), [
    { components: ['API', 'API 服务 (API Service)', 'Chat (web)'] },
  ]);
});

t.test('a status that an item names itself counts where nothing else tells one', async (t) => {
  t.same(readItems({ ...TODAY, status: 'Available', description: 'This site tells of disruptions.' }), []);
  t.match(readItems({ ...TODAY, status: 'Investigating', description: 'x' }), [{ status: 'investigating' }]);
});

t.test('broken items are mended or left out', async (t) => {
  t.same(
    readItems({}, { title: 'No time, resolved', description: 'Status: Resolved' }, { pubDate: 'soon' }),
    [],
  );
  t.match(readItems({ ...TODAY, title: '', description: '<p>Mail is late.</p><p>Sorry.</p>' }), [
    { title: 'Mail is late. Sorry.' },
  ]);
  t.match(readItems({ ...TODAY, title: '' }), [{ title: 'Incident' }]);
  t.match(readItems({ ...TODAY, title: `<b>${'x'.repeat(400)}</b>`, link: 'ftp://x' }), [
    { title: `${'x'.repeat(299)}…`, sourceUrl: PAGE.pageUrl },
  ]);
  t.match(readItems({ ...TODAY, description: '<script>alert(1)</script>&lt;img src=x&gt;' }), [
    { updates: [{ text: '‹img src=x›' }] },
  ]);
  const days = (count: number) => new Date(NOW - count * 86_400_000).toUTCString();
  t.equal(readItems({ ...TODAY, pubDate: days(399) }, { ...TODAY, guid: 'h', pubDate: days(401) }).length, 1);
});

t.test('it keeps the newest 2,000 of many entries, in whatever order they come', async (t) => {
  const items = Array.from({ length: 5_000 }, (_, index) => ({
    guid: `g${index}`,
    pubDate: new Date(NOW - 5_000_000 + index * 1_000).toUTCString(),
  }));
  const entries = readItems(...items);
  t.same([entries.length, entries[0]?.key, entries.at(-1)?.key], [2_000, 'g4999', 'g3000']);
});

t.test('it refuses documents that are no feeds', async (t) => {
  for (const [document] of WRONG_DOCUMENTS)
    t.throws(() => readDocument(rss, 'feed', document), FeedFormatError);
});
