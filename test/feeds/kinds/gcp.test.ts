import t from 'tap';
import { gcp } from '../../../src/feeds/kinds/gcp.ts';
import { at, fixture, readDocument, WRONG_DOCUMENTS, withoutUpdates } from './read-document.ts';

const SOURCE = { pageUrl: 'https://www.google.com/appsstatus/dashboard', feedUrl: null };

function read(...incidents: unknown[]) {
  return readDocument(gcp, 'incidents', incidents, SOURCE).entries;
}

function incident(more: object) {
  return {
    id: 'i',
    begin: '2026-09-20T10:00:00+00:00',
    external_desc: 'A fault',
    uri: 'incidents/i',
    ...more,
  };
}

t.test('it asks for the list beside the page', async (t) => {
  for (const [pageUrl, feedUrl, url] of [
    ['https://status.cloud.google.com', null, 'https://status.cloud.google.com/incidents.json'],
    ['https://www.google.com/appsstatus/dashboard/', null, `${SOURCE.pageUrl}/incidents.json`],
    ['https://status.example.com', 'https://example.com/list.json', 'https://example.com/list.json'],
  ] as const)
    t.same(
      gcp.addresses({ pageUrl, feedUrl }).map((address) => address.url),
      [url],
    );
});

t.test('it reads a recorded list', async (t) => {
  t.same(readDocument(gcp, 'incidents', fixture('gcp-incidents'), SOURCE), {
    listsOnlyOpen: false,
    entries: [
      {
        kind: 'incident',
        key: 'AbCdEfGh1234',
        title: 'Elevated errors in Example Run',
        sourceUrl: 'https://www.google.com/appsstatus/dashboard/incidents/AbCdEfGh1234',
        components: ['Example Run', '9D7d2iNBQWN24zc1VamE', 'Example Functions', 'oW4vJ7VNqyxTWNzSHopX'],
        updates: [
          { at: at('09:20'), status: 'investigating', text: 'We are investigating.' },
          { at: at('10:00'), status: 'investigating', text: 'Summary:\nWe are mitigating the errors.' },
        ],
        severity: 'major',
        status: 'investigating',
        startedAt: at('09:00'),
        resolvedAt: null,
      },
      {
        kind: 'incident',
        key: 'ZyXwVuTs9876',
        title: 'Customers could not send mail.',
        sourceUrl: 'https://www.google.com/appsstatus/dashboard/incidents/ZyXwVuTs9876',
        components: ['Gmail', 'prPt2Yra2CbGsbEm9cpC'],
        updates: [{ at: at('2026-09-13T06:35:00Z'), status: 'resolved', text: 'The problem is solved.' }],
        severity: 'critical',
        status: 'resolved',
        startedAt: at('2026-09-13T04:00:00Z'),
        resolvedAt: at('2026-09-13T06:30:00Z'),
      },
    ],
  });
});

t.test('it maps every impact and severity', async (t) => {
  for (const [status_impact, severity, expected] of [
    ['SERVICE_INFORMATION', 'low', 'minor'],
    ['SERVICE_INFORMATION', 'high', 'minor'],
    ['SERVICE_DISRUPTION', 'low', 'minor'],
    ['SERVICE_DISRUPTION', 'medium', 'major'],
    ['SERVICE_DISRUPTION', 'high', 'major'],
    ['SERVICE_OUTAGE', 'low', 'major'],
    ['SERVICE_OUTAGE', 'medium', 'major'],
    ['SERVICE_OUTAGE', 'high', 'critical'],
    ['SERVICE_OUTAGE', null, 'major'],
    ['AVAILABLE_INFORMATION', 'high', 'minor'],
    [null, null, 'minor'],
  ] as const)
    t.match(
      read(incident({ status_impact, severity })),
      [{ severity: expected }],
      `${status_impact} ${severity}`,
    );
});

t.test('it knows the state by the end and by the newest update', async (t) => {
  const update = (status: string) => ({ when: '2026-09-20T10:30:00+00:00', text: 'x', status });
  for (const [more, status, resolvedAt] of [
    [{}, 'investigating', null],
    [{ end: null, updates: [update('SERVICE_OUTAGE')] }, 'investigating', null],
    [{ end: null, updates: [update('AVAILABLE')] }, 'monitoring', null],
    [{ end: '2026-09-20T11:00:00+00:00', updates: [update('SERVICE_OUTAGE')] }, 'resolved', at('11:00')],
    [{ end: '2026-09-20T11:00:00+00:00', updates: [update('AVAILABLE')] }, 'resolved', at('11:00')],
    [{ end: 'some day' }, 'investigating', null],
  ] as const) {
    const [entry] = read(incident(more));
    t.match(entry, { status, resolvedAt }, JSON.stringify(more));
    if ('updates' in more) t.same(entry?.updates, [{ at: at('10:30'), status, text: 'x' }]);
  }
});

t.test('what is written after the end is of what is over', async (t) => {
  const updates = ['10:30', '11:00', '12:00'].map((time) => ({
    when: `2026-09-20T${time}:00+00:00`,
    text: 'On 18 August , 2026\\.\nA line\\\nAnother',
    status: time === '10:30' ? 'SERVICE_OUTAGE' : 'AVAILABLE',
  }));
  const [entry] = read(incident({ end: '2026-09-20T11:00:00+00:00', updates }));
  t.same(
    entry?.updates.map(({ status }) => status),
    ['investigating', 'resolved', 'resolved'],
  );
  t.notMatch(entry?.updates[0]?.text, /\\/, 'no backslash of Markdown');
});

t.test('it takes the first line that says something for the title', async (t) => {
  for (const [external_desc, title] of [
    ['**Title:**\nErrors', 'Errors'],
    ['**Title:** Errors', 'Errors'],
    ['**Title**\n\nErrors\nmore', 'Errors'],
    ['# Incident Summary\nErrors', 'Errors'],
    ['\n\n  Errors  \n', 'Errors'],
    ['Titles are lost', 'Titles are lost'],
    ['<script>x()</script>**Errors** & <i>more</i>', 'Errors & more'],
    ['', 'Incident'],
    [null, 'Incident'],
    [['Errors'], 'Incident'],
  ] as const)
    t.match(read(incident({ external_desc })), [{ title }], String(external_desc));
});

t.test('it names products, and the service unless that stands for several', async (t) => {
  for (const [more, components] of [
    [{}, null],
    [{ affected_products: null, service_name: 'Multiple Products', service_key: 'zall' }, null],
    [{ affected_products: [], service_name: 'Gmail', service_key: 'g' }, ['Gmail', 'g']],
    [
      { affected_products: [{ title: 'A', current_title: 'A (new)', id: 'a' }, 'B'], service_name: 'A' },
      ['A', 'A (new)', 'a'],
    ],
  ] as const)
    t.same(read(incident(more))[0]?.components, components, JSON.stringify(more));
});

t.test('it mends or leaves out what is broken, one entry at a time', async (t) => {
  const entries = read(
    null,
    [],
    { id: 'without a begin' },
    { begin: '2026-09-20T10:00:00+00:00' },
    incident({ id: 5, begin: '', created: '2026-09-20T08:00:00+00:00', uri: 'javascript:x' }),
    incident({ id: 'x', begin: null, most_recent_update: 'text', updates: [{ text: 'no time' }, null] }),
  );
  t.match(withoutUpdates(entries), [
    { key: 'x', startedAt: null },
    { key: '5', startedAt: at('08:00'), sourceUrl: SOURCE.pageUrl },
  ]);
  t.same(entries[0]?.updates, []);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const [document, message] of [
    ...WRONG_DOCUMENTS,
    [{}, /not a list/],
    [{ incidents: [] }, /not a list/],
    [[{ title: 'A product', id: 'p' }], /no incident/],
    [['text'], /no incident/],
  ] as const)
    t.throws(() => readDocument(gcp, 'incidents', document), { name: 'FeedFormatError', message });
  t.same(read(), [], 'an empty list says that nothing happened');
});
