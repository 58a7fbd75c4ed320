/** Uptime Kuma's pages: what is asked, what is read of it, and what is refused. */
import t from 'tap';
import { uptimekuma } from '../../../src/feeds/kinds/uptimekuma.ts';
import {
  at,
  fixture,
  PAGE,
  readAll,
  readDocuments,
  refusesOthers,
  sourceOf,
  urlsOf,
} from './read-document.ts';

t.test('it asks for the documents that follow from the page', async (t) => {
  t.same(urlsOf(uptimekuma, 'https://kuma.example.com/status/main'), [
    'https://kuma.example.com/api/status-page/main',
    'https://kuma.example.com/api/status-page/heartbeat/main',
  ]);
  t.throws(() => uptimekuma.addresses(PAGE), { name: 'FeedFormatError', message: /needs a feedUrl/ });
});

t.test('Uptime Kuma: the newest heartbeat, pinned incidents and maintenance', async (t) => {
  const entries = readAll(uptimekuma, 'uptimekuma', ['page', 'heartbeats']);
  t.match(entries, [
    { key: 'maintenance 1 2026-09-21T02:00:00.000Z', endsAt: at('2026-09-21T04:00:00Z'), state: 'planned' },
    {
      key: 'incident 1',
      severity: 'minor',
      startedAt: at('10:00'),
      updates: [{ text: 'We look into latency.' }],
    },
  ]);
  t.equal(entries.length, 2, 'the pinned incident explains what is down');
  const page = { publicGroupList: [{ name: 'Core', monitorList: [{ id: 2, name: 'DB' }] }], incident: null };
  t.match(
    readDocuments(uptimekuma, { page, heartbeats: fixture('uptimekuma-heartbeats') }, sourceOf('uptimekuma')),
    [{ key: 'state major', components: ['DB', 'Core', '2'] }],
  );
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, uptimekuma, {
    source: sourceOf('uptimekuma'),
    others: [{}, { data: {} }, { status: 'ok' }],
  });
});
