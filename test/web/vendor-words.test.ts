/** What a vendor says of itself, in sentences. */
import t from 'tap';
import type { VendorWord } from '../../src/domain/vendor-word.ts';
import { describeLag, describeVendor } from '../../src/web/vendor-words.ts';

const NOW = Date.UTC(2026, 10, 20, 10);
const MINUTE = 60_000;

const WORD: VendorWord = {
  url: 'https://status.example',
  kind: 'statuspage',
  status: 'operational',
  since: NOW - 60 * MINUTE,
  incidentId: null,
  readAt: NOW - MINUTE,
  stale: false,
};

t.test('it says what the vendor says, and how old that is', async (t) => {
  const table: readonly [Partial<VendorWord>, string][] = [
    [{}, 'says that all is well.'],
    [{ status: 'critical' }, 'speaks of a critical incident, since 2026-11-20 09:00 UTC.'],
    [{ status: 'maintenance', since: null }, 'speaks of maintenance.'],
    [
      { stale: true, readAt: NOW - 30 * MINUTE },
      'says that all is well, 30 min ago; it could not be read since.',
    ],
    [{ status: 'unknown', since: null, readAt: null, stale: true }, 'has not been read yet.'],
    [
      { status: 'minor', readAt: null, stale: true },
      'speaks of a minor incident, since 2026-11-20 09:00 UTC when it was last read.',
    ],
  ];
  for (const [change, said] of table) t.equal(describeVendor({ ...WORD, ...change }, NOW), said);
  t.equal(describeVendor(null, NOW), null);
});

t.test('it says how quick the vendor is', async (t) => {
  const table: readonly [[number, number, number | null, number | null], string | null][] = [
    [[0, 0, null, null], null],
    [[1, 0, null, null], 'It said nothing of the one outage that our checks saw in a year.'],
    [
      [1, 1, 16_000, 16_000],
      'In a year it spoke of the one outage that our checks saw, 16 s after our first failed check.',
    ],
    [
      [3, 1, 4 * MINUTE, 4 * MINUTE],
      'In a year it spoke of 1 of the 3 outages that our checks saw, typically 4 min after our first failed check.',
    ],
    [
      [3, 2, -2 * MINUTE, 9 * MINUTE],
      'In a year it spoke of 2 of the 3 outages that our checks saw, typically 2 min before our first failed check, at worst 9 min after it.',
    ],
  ];
  for (const [[outages, acknowledged, medianMs, worstMs], said] of table)
    t.equal(describeLag({ outages, acknowledged, medianMs, worstMs }), said);
});
