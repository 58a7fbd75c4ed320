/** Microsoft 365's page: what is read of it, and what is refused. */
import t from 'tap';
import { microsoft365 } from '../../../src/feeds/kinds/microsoft365.ts';
import { at, fixture, readDocument, refusesOthers, urlsOf } from './read-document.ts';

t.test('it asks for the document that follows from the page, or for that of the feed URL', async (t) => {
  t.same(urlsOf(microsoft365, 'https://status.cloud.microsoft/m365'), [
    'https://status.cloud.microsoft/api/posts/m365Consumer',
  ]);
  t.match(microsoft365.addresses({ pageUrl: 'https://a.example', feedUrl: 'https://b.example/x' }), [
    { url: 'https://b.example/x', listsOnlyOpen: true },
  ]);
});

t.test('Microsoft 365: a post is an incident of its service until it is restored', async (t) => {
  const { entries } = readDocument(microsoft365, 'posts', fixture('microsoft365-posts'));
  t.match(entries, [
    { key: 'OneDriveConsumer', status: 'investigating', severity: 'minor', startedAt: null },
    { key: 'state minor', components: ['Phone Link', 'YourPhone'], title: 'Degraded performance' },
    {
      key: 'CopilotConsumer 2026-09-20T08:57:00.000Z',
      title: 'Some users may be unable to access Microsoft Copilot chat',
      components: ['Microsoft Copilot', 'CopilotConsumer'],
      severity: 'major',
      status: 'investigating',
      startedAt: at('08:57'),
      continues: ['CopilotConsumer'],
      updates: [{ at: at('09:30'), status: 'investigating' }],
    },
  ]);
  t.equal(entries.length, 3);
  const post = (more: object) => ({
    ServiceDisplayName: 'Mail',
    ServiceWorkloadName: 'mail',
    LastUpdatedTime: '2026-09-20T10:00:00Z',
    Title: 'T',
    Message: '',
    Status: 'Investigating',
    ...more,
  });
  for (const [Status, status] of [
    ['Operational', null],
    ['Available', null],
    // Without a time, nothing is known of what is over.
    ['Service restored', null],
    ['False positive', null],
    ['Service degradation', 'investigating'],
    ['Restoring service', 'monitoring'],
    ['Extended recovery', 'monitoring'],
    ['Something new', 'investigating'],
  ] as const) {
    const found = readDocument(microsoft365, 'posts', [post({ Status })]).entries;
    t.match(found, status === null ? [] : [{ status }], Status);
    t.equal(found.length, status === null ? 0 : 1, Status);
  }
  t.same(readDocument(microsoft365, 'posts', [post({ Status: 'Something new', Title: '' })]).entries, []);
  const Message = 'Start time: Sunday, September 20, 2026, at 12:05 AM UTC\nEnd time: soon';
  t.match(readDocument(microsoft365, 'posts', [post({ Message })]).entries, [{ startedAt: at('00:05') }]);
  t.match(readDocument(microsoft365, 'posts', post({})).entries, [{ key: 'mail' }], 'a single post');
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, microsoft365, { others: [{}, [], [{ Status: 'Operational' }], { Services: [{}] }] });
});
