/** Polls feeds of the ports of `feed-server.ts`, first in full, then with validators; prints what the latter cost. */
import { createKeyedLimiter } from '../src/async/concurrency-limiter.ts';
import { systemClock } from '../src/clock.ts';
import type { FeedMemory } from '../src/feeds/feed-actor.ts';
import { FEED_KINDS } from '../src/feeds/kinds-table.ts';
import { pollFeed } from '../src/feeds/poll-feed.ts';
import { createOutbound } from '../src/outbound/outbound.ts';

const ports = JSON.parse(process.argv[2] ?? '[]') as number[];
const feeds = Number(process.argv[3]);
const rounds = Number(process.argv[4]);
const outbound = createOutbound({ userAgent: 'Upbeat/bench', nameservers: [] });
const parts = {
  outbound,
  policy: { allowPrivate: ['127.0.0.0/8'], ports: [443] },
  inTurn: createKeyedLimiter(16),
  now: systemClock.now,
  signal: new AbortController().signal,
};
const memories: FeedMemory[] = Array.from({ length: feeds }, () => ({}));
let failed = 0;

async function round(): Promise<void> {
  await Promise.all(
    memories.map(async (memory, index) => {
      const source = { pageUrl: `https://localhost:${ports[index % ports.length]}`, feedUrl: null };
      const outcome = await pollFeed(FEED_KINDS.statuspage.addresses(source), memory, parts);
      memories[index] = outcome.memory;
      if (outcome.problem !== null) failed++;
      if (outcome.readings.length > 0 && Object.keys(memory).length > 0) throw new Error('something changed');
    }),
  );
}

await round();
const before = process.cpuUsage();
for (let turn = 0; turn < rounds; turn++) await round();
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpuMs: (user + system) / 1_000, polls: feeds * rounds, failed }));
outbound.close();
