/** What the operator hears of addresses that may not be asked, and strangers do not. */
import t from 'tap';
import { toStoredFailure } from '../../src/domain/failure.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { createForbiddenAddressLog } from '../../src/outbound/forbidden-address-log.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startNameServer } from '../support/name-server.ts';

t.test(
  'it tells the operator where a name leads, and everybody else only that it is not public',
  async (t) => {
    const names = await startNameServer(() => ({ addresses: ['10.9.8.7'] }));
    t.teardown(() => names.close());
    const lines: object[] = [];
    const log: Log = { ...silentLog, info: (fields) => void lines.push(fields) };
    const clock = createFakeClock(0);
    const outbound = createOutbound(
      { userAgent: 'Upbeat/test', nameservers: [names.address] },
      undefined,
      createForbiddenAddressLog(log, clock),
    );
    t.teardown(() => outbound.close());
    const ask = async (url: string) => {
      const policy = { allowPrivate: [], ports: [80] };
      const { fault } = await outbound.request({ url, timeoutMs: 10_000, maxBodyBytes: 10, policy });
      return fault === null ? null : toStoredFailure(fault.failure);
    };
    const refused = { class: 'forbidden_address', detail: 'the name leads to an address that is not public' };
    for (let n = 0; n < 3; n++) t.match(await ask('http://inside.example/'), refused);
    const told = { host: 'inside.example', address: '10.9.8.7', refusal: '10.9.8.7 is not public (private)' };
    t.same(lines, [told], 'once');
    await clock.advance(3_600_001);
    await ask('http://inside.example/');
    t.same(lines, [told, told], 'and again after an hour');
    t.match(
      await ask('http://10.1.1.1/'),
      { detail: '10.1.1.1 is not public (private)' },
      'who names it knows it',
    );
    t.equal(lines.length, 2);
  },
);
