/** AWS's RSS, in which every update of an event is an item of its own. */
import t from 'tap';
import { rss } from '../../src/feeds/kinds/rss.ts';
import { at, readDocument } from './kinds/read-document.ts';

type Item = readonly [service: string, time: string, title: string];

/** A feed as AWS writes it, the newest item first. */
function read(...items: readonly Item[]) {
  const written = items.map(([service, time, title]) => {
    const seconds = Date.parse(time) / 1_000;
    return `<item><title><![CDATA[${title}]]></title><link>https://status.aws.amazon.com/</link>
      <pubDate>${new Date(time).toUTCString().replace('GMT', 'UTC')}</pubDate>
      <guid isPermaLink="false">https://status.aws.amazon.com/#${service}_${seconds}</guid>
      <description><![CDATA[${title}, told at length.]]></description></item>`;
  });
  const channel = `<link>https://status.aws.amazon.com/</link>${written.join('')}`;
  return readDocument(rss, 'feed', `<rss version="2.0"><channel>${channel}</channel></rss>`).entries;
}

const EC2 = 'ec2-eu-west-1';

t.test('the items of an event are one incident, with each as an update', async (t) => {
  const entries = read(
    [EC2, '2026-09-19T12:00:00Z', 'Service is operating normally: [RESOLVED] Instance Launches'],
    [EC2, '2026-09-19T11:00:00Z', 'Service degradation: Instance Launches'],
    [EC2, '2026-09-19T10:00:00Z', 'Informational message: Instance Launches'],
  );
  t.match(entries, [
    {
      key: `${EC2} ${at('2026-09-19T10:00:00Z') / 1_000}`,
      title: 'Instance Launches',
      components: [EC2, 'ec2', 'eu-west-1'],
      severity: 'major',
      status: 'resolved',
      startedAt: at('2026-09-19T10:00:00Z'),
      resolvedAt: at('2026-09-19T12:00:00Z'),
    },
  ]);
  t.same(
    entries[0]?.updates.map(({ status }) => status),
    ['investigating', 'investigating', 'resolved'],
  );
});

t.test('many items of three events are three incidents', async (t) => {
  const hours = Array.from({ length: 16 }, (_, hour) => `2026-09-19T${String(hour).padStart(2, '0')}:00:00Z`);
  const over = (service: string) =>
    hours.map((time): Item => [service, time, 'Service is operating normally: [RESOLVED] Errors']);
  const open = hours.map(
    (time): Item => ['multipleservices-me-central-1', time, 'Service disruption: Errors'],
  );
  const entries = read(...over(EC2), ...over('s3-us-east-1'), ...open);
  t.equal(entries.length, 3);
  t.same(
    entries.filter((entry) => entry.kind === 'incident' && entry.status !== 'resolved').map(({ key }) => key),
    [`multipleservices-me-central-1 ${at('2026-09-19T00:00:00Z') / 1_000}`],
  );
});

t.test('an end, a silence, and another service divide events', async (t) => {
  for (const [items, count] of [
    [
      [
        [EC2, '2026-09-19T10:00:00Z', 'Service impact: A'],
        [EC2, '2026-09-19T12:00:00Z', 'Service impact: B'],
      ],
      1,
    ],
    [
      [
        [EC2, '2026-09-19T10:00:00Z', 'Resolved: A'],
        [EC2, '2026-09-19T12:00:00Z', 'Service impact: A'],
      ],
      2,
    ],
    [
      [
        [EC2, '2026-09-10T10:00:00Z', 'Service impact: A'],
        [EC2, '2026-09-19T12:00:00Z', 'Service impact: A'],
      ],
      1,
    ],
    [
      [
        [EC2, '2026-09-10T10:00:00Z', 'Service impact: A'],
        [EC2, '2026-09-19T12:00:00Z', 'Service impact: B'],
      ],
      2,
    ],
    [
      [
        [EC2, '2026-09-10T10:00:00Z', '[RESOLVED] A'],
        [EC2, '2026-09-19T12:00:00Z', '[RESOLVED] A'],
      ],
      2,
    ],
    [
      [
        [EC2, '2026-09-19T10:00:00Z', 'Service impact: A'],
        ['s3', '2026-09-19T10:00:00Z', 'Service impact: A'],
      ],
      2,
    ],
  ] as const)
    t.equal(read(...items).length, count, JSON.stringify(items));
});

t.test('an open event counts for thirty days, as in the other list of AWS', async (t) => {
  t.match(read([EC2, '2026-08-22T12:00:00Z', 'Service disruption: A']), [{ status: 'investigating' }]);
  t.match(read([EC2, '2026-08-20T12:00:00Z', 'Service disruption: A']), [
    { status: 'resolved', resolvedAt: at('2026-09-19T12:00:00Z') },
  ]);
});

t.test('a resolved event keeps its end, however long ago that was', async (t) => {
  const events = read(
    [EC2, '2026-07-01T10:00:00Z', 'Service disruption: A'],
    [EC2, '2026-07-01T12:00:00Z', 'Service is operating normally: [RESOLVED] A'],
  );
  t.match(events, [{ status: 'resolved', resolvedAt: at('2026-07-01T12:00:00Z') }]);
  t.same(
    events.map(({ updates }) => updates.length),
    [2],
  );
});

t.test('the word before the title gives the severity', async (t) => {
  for (const [word, severity] of [
    ['Service disruption: ', 'critical'],
    ['Service degradation: ', 'major'],
    ['Service impact: ', 'major'],
    ['Performance issues: ', 'major'],
    ['Informational message: ', 'minor'],
    ['', 'minor'],
  ] as const)
    t.match(read([EC2, '2026-09-20T10:00:00Z', `${word}Errors`]), [{ title: 'Errors', severity }], word);
});
