/** The senders' script, and what it allows. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import {
  allowedOf,
  DEMO_SENDER_TIMING,
  DEMO_SENDERS,
  type Sender,
  startSenders,
  stepAt,
} from '../../demo/heartbeat-senders.ts';
import { until } from '../support/loopback.ts';
import { compareSenders } from './compare.ts';

const SENDER: Sender = {
  domain: 'a.example.org',
  story: '',
  steps: [
    { at: 0, word: 'ok', means: 'up' },
    { at: 60_000, word: null, means: 'down' },
    { at: 120_000, word: 'degraded', means: 'slow' },
  ],
};
const TIMING = { periodMs: 300_000, everyMs: 5_000, silenceMs: 15_000, slackMs: 3_000 };

t.test('it allows one word, and two while a change is on its way', async (t) => {
  const table: readonly [number, readonly string[]][] = [
    [0, ['up', 'unknown']],
    [8_000, ['up']],
    [59_999, ['up']],
    [60_000, ['down', 'up']],
    [82_999, ['down', 'up']],
    [83_000, ['down']],
    [120_000, ['slow', 'down']],
    [128_000, ['slow']],
    [300_000, ['up', 'slow']],
    [308_000, ['up']],
    [660_000, ['down', 'up']],
  ];
  for (const [elapsed, words] of table)
    t.same([...allowedOf(SENDER, elapsed, TIMING)], words, String(elapsed));
  t.equal(stepAt(SENDER, 399_999, 300_000).word, null);
});

t.test('it finds what the script does not allow', async (t) => {
  const seen = (status: string) => [{ slug: 'a-example-org', status, since: null }];
  t.same(compareSenders([SENDER], seen('up'), 30_000, TIMING), []);
  t.same(compareSenders([SENDER], [], 1_000, TIMING), [], 'the first heartbeat may be on its way');
  t.match(compareSenders([SENDER], [], 30_000, TIMING), [{ found: 'nothing', wanted: 'up' }]);
  t.match(compareSenders([SENDER], seen('up'), 90_000, TIMING), [{ found: 'up', wanted: 'down' }]);
});

t.test('it sends what the script says, with the key, and nothing in silence', async (t) => {
  const heard: { authorization: string | undefined; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      heard.push({ authorization: request.headers.authorization, body });
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const siteUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const silent = { ...SENDER, steps: [{ at: 0, word: null, means: 'down' as const }] };
  const stop = startSenders(
    [SENDER, silent],
    { siteUrl, key: 'k', startAt: Date.now() },
    { ...TIMING, everyMs: 50 },
  );
  await until(() => heard.length >= 3);
  stop();
  t.match(heard[0], { authorization: 'Bearer k', body: '{"domain":"a.example.org","status":"ok"}' });
  t.equal(heard.filter(({ body }) => !body.includes('"ok"')).length, 0);
});

t.test('it keeps the silence of the demonstration away from the outage of the prober', async (t) => {
  const { periodMs, everyMs, silenceMs, slackMs } = DEMO_SENDER_TIMING;
  for (const { steps, domain } of DEMO_SENDERS) {
    const silence = steps.findIndex(({ word }) => word === null);
    if (silence === -1) continue;
    const [from, to] = [steps[silence]?.at ?? 0, steps[silence + 1]?.at ?? periodMs];
    t.ok(to - from > silenceMs + everyMs + slackMs, `${domain} is silent for long enough`);
    t.ok(to < 245_000, domain);
  }
});
