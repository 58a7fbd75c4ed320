/** Statuspal's pages: what is asked, what is read of it, and what is refused. */
import t from 'tap';
import { statuspal } from '../../../src/feeds/kinds/statuspal.ts';
import { at, fixture, PAGE, readDocument, refusesOthers, sourceOf, urlsOf } from './read-document.ts';

t.test('it asks for the documents that follow from the page', async (t) => {
  t.same(urlsOf(statuspal, 'https://example.statuspal.eu'), [
    'https://statuspal.eu/api/v2/status_pages/example/summary',
  ]);
  t.throws(() => statuspal.addresses(PAGE), { name: 'FeedFormatError', message: /needs a feedUrl/ });
});

t.test('Statuspal: incidents, maintenance, and services in trouble that none names', async (t) => {
  const { entries } = readDocument(statuspal, 'summary', fixture('statuspal-summary'), sourceOf('statuspal'));
  t.match(entries, [
    { key: '8', kind: 'maintenance', state: 'planned', startsAt: at('2026-09-22T07:00:00Z') },
    { key: 'state minor', components: ['Portal', '3'] },
    { key: '7', kind: 'maintenance', state: 'running', components: ['Zone B', '6'] },
    {
      key: '81315',
      components: ['Zone A', '4', 'API', '5'],
      severity: 'major',
      status: 'monitoring',
      startedAt: at('08:59'),
      updates: [{ status: 'investigating' }, { status: 'monitoring' }],
    },
  ]);
  t.equal(entries.length, 4);
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, statuspal, {
    source: sourceOf('statuspal'),
    others: [{}, { data: {} }, { status: 'ok' }],
  });
});
