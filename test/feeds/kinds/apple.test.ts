/** Apple's pages: what is read of them, and what is refused. */
import t from 'tap';
import { apple } from '../../../src/feeds/kinds/apple.ts';
import { at, fixture, readDocument, refusesOthers, urlsOf } from './read-document.ts';

t.test('it asks for the document that follows from the page, or for that of the feed URL', async (t) => {
  t.same(urlsOf(apple, 'https://www.apple.com/support/systemstatus/'), [
    'https://www.apple.com/support/systemstatus/data/system_status_en_US.js',
  ]);
  t.same(urlsOf(apple, 'https://developer.apple.com/system-status/'), [
    'https://www.apple.com/support/systemstatus/data/developer/system_status_en_US.js',
  ]);
  t.match(apple.addresses({ pageUrl: 'https://a.example', feedUrl: 'https://b.example/x' }), [
    { url: 'https://b.example/x', listsOnlyOpen: true },
  ]);
});

t.test('Apple: an event that several services list is one entry with all of them', async (t) => {
  const body = fixture('apple-system-status');
  const { entries } = readDocument(apple, 'system-status', body);
  t.match(entries, [
    {
      kind: 'maintenance',
      key: '2000005540',
      components: ['Apple Card'],
      startsAt: at('23:00'),
      endsAt: at('2026-09-21T02:45:00Z'),
      state: 'planned',
    },
    {
      kind: 'incident',
      key: '1000005806',
      title: 'Some users may be affected. Purchases may fail.',
      components: ['App Store', 'Mac App Store'],
      severity: 'major',
      status: 'investigating',
      startedAt: at('09:24'),
      updates: [{ at: at('10:20'), status: 'investigating' }],
    },
  ]);
  t.equal(entries.length, 2);
  const called = readDocument(apple, 'system-status', `jsonCallback(${body.toString()});`);
  t.same(called.entries, entries, 'in a call');
  const event = { messageId: 'm', message: 'M', statusType: 'Issue', usersAffected: 'All users' };
  const of = (more: object) =>
    readDocument(apple, 'system-status', {
      services: [{ serviceName: 'S', events: [{ ...event, ...more }] }],
    }).entries;
  t.match(
    of({ eventStatus: 'resolved', epochStartDate: 1_789_896_240_000, epochEndDate: 1_789_896_300_000 }),
    [{ severity: 'minor', status: 'resolved', startedAt: at('09:24'), resolvedAt: at('09:25') }],
  );
  t.match(of({ eventStatus: 'unheard of' }), [{ status: 'investigating', startedAt: null }]);
  t.same(of({ statusType: 'Maintenance' }), [], 'a maintenance without a start');
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, apple, { others: [{}, { services: {} }, 'jsonCallback('] });
});
