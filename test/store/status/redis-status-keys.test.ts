/** Records of the status store as a serving process receives them: parsed when somebody reads them, with the same content. */
import fc from 'fast-check';
import t from 'tap';
import { type CurrentStatus, headOf, unknownStatus } from '../../../src/domain/status/current.ts';
import { nextRegionalStatus } from '../../../src/domain/status/regional-status.ts';
import { nextStatus } from '../../../src/domain/status/transition.ts';
import { silentLog } from '../../../src/log.ts';
import { createMemoryStatusStore, isUnread } from '../../../src/store/status/memory-status-store.ts';
import { formatHeld, formatRecord, receiveRecord } from '../../../src/store/status/redis-status-keys.ts';
import { anyText } from '../../support/any-text.ts';
import { goodResult } from '../../support/attempts.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { inRegions, NOON, record } from '../registry-fixtures.ts';

const REGIONS = ['ap', 'eu', 'us'];

/** The status of a service that was checked and is up in all regions. */
function checkedInRegions(serviceId: number): CurrentStatus {
  let current = unknownStatus(serviceId);
  for (const [index, region] of REGIONS.entries()) {
    const result = goodResult(serviceId, NOON + index);
    const check = { result, verdict: 'up', region, voting: REGIONS } as const;
    const rules = { quorum: 'majority', freshMs: 600_000, among: null } as const;
    current = nextRegionalStatus(current, check, NOON + 10, rules) ?? current;
  }
  return current;
}

const receive = (current: CurrentStatus, epoch = 3) => receiveRecord(formatRecord(epoch, current));

t.test('it leaves the usual records unread, and reads those that fail somewhere', async (t) => {
  const checked = nextStatus(unknownStatus(1), goodResult(1, NOON), 'up', NOON) ?? unknownStatus(1);
  const table: [string, CurrentStatus, boolean][] = [
    ['a check', checked, true],
    ['a slow check', record(1, 2, 'slow', NOON), true],
    ['checks in three regions', checkedInRegions(1), true],
    ['no check yet', unknownStatus(1), true],
    ['down', record(1, 2, 'down', NOON), false],
    ['down in one region', inRegions(record(1, 2, 'up', NOON)), false],
    ['down in one region without a vote', { ...inRegions(record(1, 2, 'up', NOON)), scope: null }, false],
  ];
  for (const [what, current, staysUnread] of table) {
    const received = receive(current);
    if (received === null) throw new Error(`${what} cannot be read`);
    t.equal(isUnread(received.record), staysUnread, what);
    t.match([received.epoch, received.record], [3, { seq: current.seq, status: current.status }], what);
  }
});

t.test('what is read equals what was written, and so do heads and counts before', async (t) => {
  const parts = fc.record({
    serviceId: fc.integer({ min: 1, max: 4 }),
    seq: fc.integer({ min: 0, max: 3 }),
    at: fc.integer({ min: NOON, max: NOON + 3 }),
    status: fc.constantFrom('up', 'slow', 'down'),
    form: fc.constantFrom('check', 'regions', 'good regions', 'unknown'),
    word: anyText(),
  });
  const one = parts.map(({ serviceId, seq, at, status, form, word }): CurrentStatus => {
    if (form === 'unknown') return { ...unknownStatus(serviceId), observedAt: at };
    const current = record(serviceId, seq, status, at);
    const { latest } = current;
    const told = latest === null ? current : { ...current, latest: { ...latest, reported: word } };
    if (form === 'check') return told;
    if (form === 'regions') return inRegions(told);
    return { ...checkedInRegions(serviceId), seq, observedAt: at };
  });
  await fc.assert(
    fc.asyncProperty(fc.array(one, { maxLength: 12 }), async (list) => {
      const written = createMemoryStatusStore({ log: silentLog });
      const received = createMemoryStatusStore({ log: silentLog });
      for (const current of list) {
        await written.put([current]);
        const { record: held } = receive(current) ?? {};
        if (held === undefined) throw new Error('it cannot be read');
        received.take(held);
        const { serviceId } = current;
        t.equal(received.headOf(serviceId)?.status, written.headOf(serviceId)?.status);
        // Some are read before the next one arrives.
        if (current.observedAt % 2 === 0) received.get(serviceId);
      }
      const count = ({ counts }: typeof written) => [
        ...(['up', 'slow', 'down', 'unknown'] as const).map(counts.withStatus),
        ...(['global', 'partial'] as const).map(counts.withScope),
        Object.fromEntries(counts.failing()),
      ];
      t.same(count(received), count(written));
      for (const serviceId of [1, 2, 3, 4]) {
        const wanted = written.get(serviceId);
        const head = received.headOf(serviceId);
        t.match(head, wanted === null ? null : headOf(wanted));
        const held = received.heldOf(serviceId);
        if (held !== null && wanted !== null)
          t.equal(formatHeld(9, held), formatRecord(9, wanted), 'a later monitor writes the same');
        t.strictSame(received.get(serviceId), wanted);
      }
      t.same(count(received), count(written), 'to read it changes nothing');
    }),
    { numRuns: propertyRuns(100) },
  );
});

t.test('a record that turns out to be unreadable is dropped with a warning', async (t) => {
  const lines: string[] = [];
  const log = { ...silentLog, warn: (_: object, line: string) => void lines.push(line) };
  const store = createMemoryStatusStore({ log });
  const cut = receiveRecord(formatRecord(1, record(1, 2, 'up', NOON)).slice(0, -2));
  if (cut === null) throw new Error('its head can be read');
  t.ok(store.take(cut.record));
  t.equal(store.headOf(1)?.status, 'up');
  t.equal(store.get(1), null);
  t.same([store.headOf(1), store.counts.withStatus('up'), lines.length], [null, 0, 1]);
  for (const text of ['', 'x', '1:2:3:', '1:2:{}', '1:2:3:{', '1:2:3:{"serviceId":'])
    t.equal(receiveRecord(text), null, text);
});
