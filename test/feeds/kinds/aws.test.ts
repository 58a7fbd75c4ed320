import t from 'tap';
import { aws } from '../../../src/feeds/kinds/aws.ts';
import { at, fixture, NOW, readDocument, WRONG_DOCUMENTS, withoutUpdates } from './read-document.ts';

const SOURCE = { pageUrl: 'https://health.aws.amazon.com/health/status', feedUrl: null };
const DAY = 86_400_000;

function read(...events: unknown[]) {
  return readDocument(aws, 'currentevents', events, SOURCE).entries;
}

function event(more: object) {
  return { arn: 'a', date: String(at('10:00') / 1_000), summary: 'Errors', status: '2', ...more };
}

function seconds(time: string): number {
  return at(time) / 1_000;
}

t.test('it asks the public address, or the one that the catalogue gives', async (t) => {
  const url = 'https://health.aws.amazon.com/public/currentevents';
  const urls = (feedUrl: string | null) =>
    aws.addresses({ ...SOURCE, feedUrl }).map((address) => address.url);
  t.same(urls(null), [url]);
  t.same(urls('http://127.0.0.1:9001/public/currentevents'), ['http://127.0.0.1:9001/public/currentevents']);
});

t.test('it reads a recorded list, in each encoding', async (t) => {
  const text = fixture('aws-currentevents').toString();
  const utf16 = (content: string) => Buffer.from(content, 'utf16le');
  const expected = {
    listsOnlyOpen: true,
    entries: [
      {
        kind: 'incident',
        key: 'arn:aws:health:eu-west-1::event/EC2/AWS_EC2_OPERATIONAL_ISSUE/AWS_EC2_OPERATIONAL_ISSUE_AB12C_1',
        title: 'Increased API Error Rates (Ireland)',
        sourceUrl: SOURCE.pageUrl,
        components: [
          'ec2-eu-west-1',
          'ec2',
          'Amazon Elastic Compute Cloud',
          'lambda-eu-west-1',
          'lambda',
          'AWS Lambda',
          'Ireland',
          'eu-west-1',
        ],
        updates: [
          {
            at: 1_789_893_600_000,
            status: 'investigating',
            text: 'We are investigating increased error rates.',
          },
          { at: 1_789_895_400_000, status: 'investigating', text: 'We have found the cause.' },
        ],
        severity: 'major',
        status: 'investigating',
        startedAt: 1_789_893_000_000,
        resolvedAt: null,
      },
      {
        kind: 'incident',
        key: 'arn:aws:health:us-east-1::event/S3/AWS_S3_OPERATIONAL_ISSUE/AWS_S3_OPERATIONAL_ISSUE_XY98Z_2',
        title: 'Increased Latency (N. Virginia)',
        sourceUrl: SOURCE.pageUrl,
        components: ['s3-us-east-1', 's3', 'Amazon Simple Storage Service', 'N. Virginia', 'us-east-1'],
        updates: [
          { at: 1_789_881_000_000, status: 'investigating', text: 'We are investigating.' },
          { at: 1_789_886_000_000, status: 'resolved', text: 'The issue is resolved.' },
        ],
        severity: 'critical',
        status: 'resolved',
        startedAt: 1_789_880_400_000,
        resolvedAt: 1_789_885_800_000,
      },
    ],
  };
  for (const [name, body] of [
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${text}`)],
    ['UTF-16, little end first, with a mark', utf16(`\uFEFF${text}`)],
    ['UTF-16, big end first, with a mark', utf16(`\uFEFF${text}`).swap16()],
    ['UTF-16, little end first', utf16(text)],
    ['UTF-16, big end first', utf16(text).swap16()],
  ] as const)
    t.same(readDocument(aws, 'currentevents', body, SOURCE), expected, name);
});

t.test('it maps every status', async (t) => {
  for (const [status, severity, state] of [
    ['0', 'minor', 'resolved'],
    [0, 'minor', 'resolved'],
    ['1', 'minor', 'investigating'],
    ['2', 'major', 'investigating'],
    ['3', 'critical', 'investigating'],
    [3, 'critical', 'investigating'],
    ['4', 'critical', 'investigating'],
    ['-1', 'minor', 'investigating'],
    ['bad', 'minor', 'investigating'],
    [null, 'minor', 'investigating'],
  ] as const)
    t.match(read(event({ status })), [{ severity, status: state }], String(status));
  t.match(
    read(event({ summary: '[Resolved] Errors', region_name: 'Ohio', impacted_services: [] })),
    [{ status: 'resolved', title: 'Errors (Ohio)' }],
    'the mark in the summary is enough',
  );
});

t.test('it takes the worst of the past for the severity where no status says more', async (t) => {
  const event_log = [{ status: 3, timestamp: seconds('10:10') }, { status: 0 }];
  t.match(read(event({ status: '0', event_log })), [{ severity: 'critical' }]);
  t.match(read(event({ status: '0', impacted_services: { x: { max: '2' }, y: null } })), [
    { severity: 'major' },
  ]);
  t.match(
    read(event({ status: '1', event_log })),
    [{ severity: 'minor' }],
    'the status counts while it lasts',
  );
});

t.test('it takes the end from the event, else from its newest update', async (t) => {
  const event_log = [
    { status: 2, timestamp: seconds('10:10'), message: 'a' },
    { status: 0, timestamp: String(seconds('10:40')), message: 'b' },
  ];
  for (const [more, resolvedAt] of [
    [{ status: '0', event_log, end_time: seconds('10:30') }, at('10:30')],
    [{ status: '0', event_log }, at('10:40')],
    [{ status: '0' }, null],
    [{ status: '2', event_log, end_time: seconds('10:30') }, null],
  ] as const)
    t.match(read(event(more)), [{ resolvedAt }], JSON.stringify(more));
});

t.test('an open event counts for thirty days', async (t) => {
  const began = (days: number) => event({ date: (NOW - days * DAY) / 1_000, event_log: log(days) });
  const log = (days: number) => [
    { status: 3, timestamp: (NOW - days * DAY) / 1_000, message: 'It began.' },
    { status: 3, timestamp: NOW / 1_000 - 60, message: 'It goes on.' },
  ];
  t.match(read(began(29.9)), [{ status: 'investigating', resolvedAt: null, updates: { length: 2 } }]);
  for (const days of [30.01, 200])
    t.match(read(began(days)), [
      {
        status: 'resolved',
        startedAt: NOW - days * DAY,
        resolvedAt: NOW - days * DAY + 30 * DAY,
        updates: [
          { at: NOW - days * DAY, status: 'investigating', text: 'It began.' },
          { at: NOW - days * DAY + 30 * DAY, status: 'resolved', text: /30 days/ },
        ],
      },
    ]);
  t.same(read(began(401)), []);
});

t.test('it mends or leaves out what is broken, one entry at a time', async (t) => {
  const entries = read(
    null,
    'text',
    { service: 'without a date' },
    { arn: '', service: 'ec2-eu-west-1', date: seconds('10:00') },
    event({
      arn: 'x',
      date: 'never',
      event_log: [{ timestamp: seconds('09:00') }, { message: 'no time' }, 1],
    }),
    event({ arn: 'y', date: null, summary: '<b>Errors</b>', event_log: {}, impacted_services: 'all' }),
  );
  t.match(withoutUpdates(entries), [
    { key: 'y', startedAt: null, title: 'Errors', components: null },
    { key: `ec2-eu-west-1 ${seconds('10:00')}`, title: 'Incident', components: ['ec2-eu-west-1'] },
    { key: 'x', startedAt: at('09:00') },
  ]);
});

t.test('it refuses documents of another kind', async (t) => {
  for (const [document, message] of [
    ...WRONG_DOCUMENTS,
    [{}, /not a list/],
    [{ message: 'Forbidden' }, /not a list/],
    [[{ id: 'something else' }], /no event/],
  ] as const)
    t.throws(() => readDocument(aws, 'currentevents', document), { name: 'FeedFormatError', message });
  t.same(read(), [], 'an empty list says that nothing is open');
});
