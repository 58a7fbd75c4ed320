/** Cachet's pages: what is asked, what is read of it, and what is refused. */
import t from 'tap';
import { cachet } from '../../../src/feeds/kinds/cachet.ts';
import { at, readAll, readDocument, refusesOthers, sourceOf, urlsOf } from './read-document.ts';

t.test('it asks for the documents that follow from the page and the feed URL', async (t) => {
  t.same(urlsOf(cachet, 'https://status.example.com', 'https://status.example.com/api'), [
    'https://status.example.com/api/components?per_page=100',
    'https://status.example.com/api/incidents?sort=-id&per_page=50',
    'https://status.example.com/api/schedules?per_page=50',
  ]);
});

t.test('Cachet: numbers of states in both versions', async (t) => {
  const entries = readAll(cachet, 'cachet', ['components', 'incidents', 'schedules']);
  t.match(
    entries.map(({ key }) => key),
    ['state minor', '2', '1', 'schedule 4'],
  );
  t.match(entries[1], {
    title: 'Errors',
    sourceUrl: 'https://status.example.com/incidents/2',
    components: ['API', '1'],
    status: 'identified',
    startedAt: at('09:00'),
    updates: [
      { at: at('09:00'), text: 'We look into it.' },
      { at: at('09:30'), status: 'identified' },
    ],
  });
  t.match(entries[2], { status: 'resolved', resolvedAt: at('2026-08-01T13:00:00Z') });
  t.match(entries[3], { startsAt: at('2026-09-22T12:00:00Z'), state: 'planned' });
  const attributes = {
    id: 7,
    name: 'Errors',
    message: 'M',
    status: { human: 'Watching', value: '3' },
    occurred: { human: 'an hour ago', string: '2026-09-20 09:00:00' },
  };
  t.match(readDocument(cachet, 'incidents', { data: [{ id: '7', type: 'incidents', attributes }] }).entries, [
    { key: '7', status: 'monitoring', startedAt: at('09:00') },
  ]);
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, cachet, { source: sourceOf('cachet'), others: [{}, { data: {} }, { status: 'ok' }] });
});
