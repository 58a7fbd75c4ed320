/**
 * A serving node of `following.ts`, in a process of its own: follows the statuses in Redis as the pages and lists of a node
 * do. Prints a line of JSON when it has loaded them. Each line of its standard input is a number of statuses: when it has
 * seen so many, it prints the CPU time that it has used since the line before.
 */
import { createInterface } from 'node:readline';
import { systemClock } from '../src/clock.ts';
import { requireRedisAddress } from '../src/domain/store-address.ts';
import { silentLog } from '../src/log.ts';
import { RedisStatusReader } from '../src/store/status/redis-status-reader.ts';
import { createLiveChanges } from '../src/web/live/live-changes.ts';
import { makeServices } from './services.ts';

const [url = '', count = '0'] = process.argv.slice(2);
const common = { clock: systemClock, log: silentLog };
const status = new RedisStatusReader({ ...common, address: requireRedisAddress(url) });
if (!(await status.loaded(60_000))) throw new Error('the statuses were not loaded');
const services = makeServices(Number(count));
const byId = new Map(services.map((service) => [service.id, service]));
const directory = { all: () => services, byId: (id: number) => byId.get(id) ?? null };
const sources = { directory, status, clock: systemClock };
createLiveChanges({ ...sources, intervalMs: 300_000, listenedAt: systemClock.now });
let seen = 0;
status.watch(() => {
  seen += 1;
});

const report = (cpuUs: number) => console.log(JSON.stringify({ cpuUs }));
report(0);
let before = process.cpuUsage();
for await (const line of createInterface({ input: process.stdin })) {
  while (seen < Number(line)) await new Promise((resolve) => setTimeout(resolve, 20));
  const { user, system } = process.cpuUsage(before);
  before = process.cpuUsage();
  report(user + system);
}
process.exit(0);
