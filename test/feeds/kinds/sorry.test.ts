/** Sorry's pages: what is asked, what is read of it, and what is refused. */
import t from 'tap';
import { sorry } from '../../../src/feeds/kinds/sorry.ts';
import { at, fixture, readAll, readDocuments, refusesOthers, sourceOf, urlsOf } from './read-document.ts';

t.test('it asks for the documents that follow from the page', async (t) => {
  t.same(urlsOf(sorry, 'https://status.example.com/'), [
    'https://status.example.com/api/v1/status',
    'https://status.example.com/api/v1/notices?include=components,updates',
  ]);
});

t.test('Sorry: notices with their updates; the state of the page where none is open', async (t) => {
  const entries = readAll(sorry, 'sorry', ['status', 'notices']);
  t.match(entries, [
    { kind: 'maintenance', key: 'n2', startsAt: at('2026-09-21T09:00:00Z'), state: 'planned' },
    {
      key: 'n1',
      title: 'Errors & more',
      sourceUrl: 'https://status.example.com/notices/n1',
      components: ['Web', '1'],
      status: 'monitoring',
      startedAt: at('09:00'),
      updates: [
        { at: at('09:05'), status: 'investigating', text: 'We are looking.' },
        { at: at('10:00'), status: 'monitoring', text: 'A fix is out.' },
      ],
    },
    { key: 'n3', status: 'resolved', resolvedAt: at('2026-09-18T09:30:00Z') },
  ]);
  t.equal(entries.length, 3, 'news is left out');
  const status = fixture('sorry-status');
  t.match(readDocuments(sorry, { status, notices: { data: [] } }), [
    { key: 'state minor', severity: 'minor', isOfWholePage: true },
  ]);
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, sorry, { source: sourceOf('sorry'), others: [{}, { data: {} }, { status: 'ok' }] });
});
