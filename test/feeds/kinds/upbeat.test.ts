/** Pages of other installations of Upbeat: what is asked, what is read of it, and what is refused. */
import t from 'tap';
import { upbeat } from '../../../src/feeds/kinds/upbeat.ts';
import { at, fixture, readDocument, refusesOthers, sourceOf, urlsOf } from './read-document.ts';

t.test('it asks for the documents that follow from the page', async (t) => {
  t.same(urlsOf(upbeat, 'https://up.example.com/p/acme'), ['https://up.example.com/p/acme.json']);
  t.same(urlsOf(upbeat, 'https://status.example.com/'), ['https://status.example.com/page.json']);
});

t.test('Upbeat: incidents of services and of the page', async (t) => {
  t.match(readDocument(upbeat, 'page', fixture('upbeat-page')).entries, [
    { key: 'maintenance m1', components: ['Shop', 'shop-example-com'], state: 'planned' },
    {
      key: 'check-1',
      components: ['Shop', 'shop.example.com'],
      severity: 'major',
      updates: [{ text: 'HTTP 500' }],
    },
    { key: 'owner-1', status: 'resolved', resolvedAt: at('09:00'), updates: [{}, { status: 'resolved' }] },
  ]);
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, upbeat, { source: sourceOf('upbeat'), others: [{}, { data: {} }, { status: 'ok' }] });
});
