/** What a vendor says of itself, in sentences of both languages. */
import t from 'tap';
import type { Acknowledgement } from '../../../src/domain/incident/acknowledgement.ts';
import { type ServiceVendorStatus, VENDOR_STATUSES } from '../../../src/domain/incident/vendor-incident.ts';
import { asText } from '../../../src/language/phrase.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import {
  describeLag,
  describeNow,
  describeVendor,
  VENDOR_LOOKS,
} from '../../../src/web/service/service-vendor.ts';

const NOW = Date.UTC(2026, 10, 20, 10);
const MINUTE = 60_000;
const { en, de } = LANGUAGES;

const WORD: ServiceVendorStatus = {
  url: 'https://status.example',
  kind: 'statuspage',
  status: 'operational',
  since: NOW - 60 * MINUTE,
  incidentId: null,
  readAt: NOW - MINUTE,
  stale: false,
};

t.test('it says what the vendor says, and how old that is', async (t) => {
  const table: readonly [Partial<ServiceVendorStatus>, string][] = [
    [{}, 'reports no problems.'],
    [{ status: 'critical' }, 'reports a critical incident, since 20 Nov 2026, 09:00 UTC.'],
    [{ status: 'maintenance', since: null }, 'reports maintenance.'],
    [
      { stale: true, readAt: NOW - 30 * MINUTE },
      'reports no problems, 30 min ago; it has not been readable since then.',
    ],
    [{ status: 'unknown', since: null, readAt: null, stale: true }, 'has not been read yet.'],
    [
      { status: 'minor', readAt: null, stale: true },
      'reports a minor incident, since 20 Nov 2026, 09:00 UTC when it was last read.',
    ],
  ];
  for (const [change, said] of table) {
    const phrase = describeVendor({ ...WORD, ...change }, NOW, en);
    t.equal(asText(phrase ?? [], en.formats, NOW), said);
  }
  t.equal(describeVendor(null, NOW, en), null);
  t.equal(
    asText(describeVendor({ ...WORD, status: 'minor', since: null }, NOW, de) ?? [], de.formats, NOW),
    'meldet eine leichte Störung.',
  );
});

t.test('it says how quick the vendor is', async (t) => {
  const table: readonly [[number, number, number | null, number | null], string | null][] = [
    [[0, 0, null, null], null],
    [[1, 0, null, null], 'It did not report the one outage that our checks detected in the past year.'],
    [[4, 0, null, null], 'It reported none of the 4 outages that our checks detected in the past year.'],
    [
      [1, 1, 16_000, 16_000],
      'In the past year it reported the one outage that our checks detected, 16 s after our first failed check.',
    ],
    [
      [3, 1, 4 * MINUTE, 4 * MINUTE],
      'In the past year it reported 1 of the 3 outages that our checks detected, 4 min after our first failed check.',
    ],
    [
      [3, 2, -2 * MINUTE, 9 * MINUTE],
      'In the past year it reported 2 of the 3 outages that our checks detected, typically 2 min before our first failed check, at worst 9 min after it.',
    ],
  ];
  for (const [[outages, acknowledged, medianMs, worstMs], said] of table)
    t.equal(describeLag({ outages, acknowledged, medianMs, worstMs }, en), said);
  t.equal(
    describeLag({ outages: 1, acknowledged: 0, medianMs: null, worstMs: null }, de),
    'Den einen Ausfall, den unsere Prüfungen im letzten Jahr feststellten, meldete sie nicht.',
  );
});

t.test('it says what the vendor has said of the outage that goes on', async (t) => {
  const newest: Acknowledgement = {
    incidentId: 'own-1-1',
    startedAt: NOW - 34 * MINUTE,
    vendorIncidentId: null,
    acknowledgedAt: null,
    lagMs: null,
  };
  const table: readonly [Acknowledgement | undefined, boolean, string | null][] = [
    [undefined, true, null],
    [newest, false, null],
    [newest, true, 'It has reported nothing in the 34 min since our first failed check.'],
    [{ ...newest, lagMs: 4 * MINUTE }, true, 'It reported this outage 4 min after our first failed check.'],
    [{ ...newest, lagMs: -MINUTE }, true, 'It reported this outage 1 min before our first failed check.'],
  ];
  for (const [given, isDown, said] of table) t.equal(describeNow(given, isDown, NOW, en), said);
});

t.test('it gives every word of a vendor a look', async (t) => {
  t.same(Object.keys(VENDOR_LOOKS).sort(), [...VENDOR_STATUSES].sort());
});
