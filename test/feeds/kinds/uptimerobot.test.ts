/** UptimeRobot's pages: what is asked, what is read of it, and what is refused. */
import t from 'tap';
import { uptimerobot } from '../../../src/feeds/kinds/uptimerobot.ts';
import { at, PAGE, readAll, readDocuments, refusesOthers, sourceOf, urlsOf } from './read-document.ts';

t.test('it asks for the documents that follow from the page', async (t) => {
  t.same(urlsOf(uptimerobot, 'https://stats.uptimerobot.com/89VnzSKAn'), [
    'https://stats.uptimerobot.com/api/getEventFeed/89VnzSKAn',
    'https://stats.uptimerobot.com/api/getMonitorList/89VnzSKAn',
  ]);
  t.throws(() => uptimerobot.addresses(PAGE), { name: 'FeedFormatError', message: /needs a feedUrl/ });
});

t.test('UptimeRobot: monitors in trouble, unless people write of it', async (t) => {
  t.match(readAll(uptimerobot, 'uptimerobot', ['monitors']), [
    { key: 'state major', components: ['api', '2'] },
    { key: 'state minor', components: ['mail', '3'] },
  ]);
  const written = readAll(uptimerobot, 'uptimerobot', ['events', 'monitors']);
  t.match(written, [
    {
      key: '44350',
      title: 'We are experiencing an issue and are investigating',
      status: 'investigating',
      startedAt: 1_789_898_289_000,
    },
  ]);
  t.equal(written.length, 1, 'announcements that warn of nothing are left out');
  const event = { id: 1, title: 'T', timestamp: 1_789_898_289, icon: 'alert-triangle' };
  const results = [{ ...event, endDate: 'Sep 20, 2026', endDateGMT: 'Sep 20, 2026 11:00' }];
  const monitors = { psp: { monitors: [] } };
  t.match(readDocuments(uptimerobot, { events: { results }, monitors }, sourceOf('uptimerobot')), [
    { status: 'resolved', resolvedAt: at('11:00') },
  ]);
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, uptimerobot, {
    source: sourceOf('uptimerobot'),
    others: [{}, { data: {} }, { status: 'ok' }],
  });
});
