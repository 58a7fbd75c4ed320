/** Meta's pages: what is read of them, and what is refused. */
import t from 'tap';
import { meta } from '../../../src/feeds/kinds/meta.ts';
import { fixture, readDocument, refusesOthers, urlsOf } from './read-document.ts';

t.test('it asks for the document that follows from the page, or for that of the feed URL', async (t) => {
  t.same(urlsOf(meta, 'https://metastatus.com/whatsapp-business-api'), [
    'https://metastatus.com/data/orgs.json',
  ]);
  t.match(meta.addresses({ pageUrl: 'https://a.example', feedUrl: 'https://b.example/x' }), [
    { url: 'https://b.example/x', listsOnlyOpen: true },
  ]);
});

t.test('Meta: services in trouble by product, or those of the product that the page is of', async (t) => {
  const whole = readDocument(meta, 'orgs', fixture('meta-orgs')).entries;
  t.match(whole, [
    { severity: 'major', components: ['Platform Status', 'Graph API', 'graph-api'] },
    {
      severity: 'minor',
      components: ['Embedded Signup', 'WhatsApp Business Platform', 'whatsapp-business-api'],
    },
  ]);
  const page = { pageUrl: 'https://metastatus.com/whatsapp-business-api', feedUrl: null };
  t.match(
    readDocument(meta, 'orgs', fixture('meta-orgs'), page).entries.map(({ title }) => title),
    ['Degraded performance'],
  );
  for (const [status, severity] of [
    ['No known issues', null],
    ['Resolved', null],
    ['', null],
    ['Everything is fine', null],
    ['Low disruptions', 'minor'],
    ['Medium disruptions', 'minor'],
    ['High disruptions', 'major'],
    ['Major disruptions', 'major'],
  ] as const) {
    const orgs = [{ id: 'a', name: 'A', services: [{ id: 1, name: 'B', status }] }];
    t.same(
      readDocument(meta, 'orgs', orgs).entries.map((entry) => entry.kind === 'incident' && entry.severity),
      severity === null ? [] : [severity],
      status,
    );
  }
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, meta, { others: [{}, [{ id: 'a' }], [{ services: [] }]] });
});
