/**
 * One of several API processes that count together: `node test/http/limited-server.ts ADDRESS`. Says its port to the
 * parent when its limits are counted in Redis, and ends with the parent.
 */
import { systemClock } from '../../src/clock.ts';
import { requireRedisAddress } from '../../src/domain/store-address.ts';
import { silentLog } from '../../src/log.ts';
import { openRedisLimitServer } from '../../src/store/status/redis-parts.ts';
import { service, startApi } from '../site/site-world.ts';

const address = requireRedisAddress(process.argv[2] ?? '');
// Patient: what a busy machine answers late is counted in Redis all the same.
const limitServer = openRedisLimitServer({ address, clock: systemClock, log: silentLog, timeoutMs: 30_000 });
const world = await startApi({ services: [service(1, 'shop')], anonymousPerMinute: 60, limitServer });
while (!limitServer.ready) await new Promise((resolve) => setTimeout(resolve, 10));
process.send?.({ port: world.port });
process.on('disconnect', () => process.exit());
