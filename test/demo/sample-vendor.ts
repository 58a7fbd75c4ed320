/** A vendor for tests of the script and of the formats. */
import type { Vendor } from '../../demo/vendors/script.ts';

const SECOND = 1_000;

/** Investigating from 20 s, identified from 40 s, resolved from 60 s; a maintenance from 30 s to 90 s. */
export function sampleVendor(kind: Vendor['kind'], details: Partial<Vendor> = {}): Vendor {
  return {
    slug: 'shop',
    name: 'Shop & Co',
    kind,
    components: ['Web', 'Apps'],
    periodMs: 100 * SECOND,
    incidents: [
      {
        key: 'errors',
        title: 'Errors & more',
        severity: 'major',
        components: ['Web'],
        startsAt: 15 * SECOND,
        updates: [
          { at: 20 * SECOND, status: 'investigating', text: 'Looking <into> it.' },
          { at: 40 * SECOND, status: 'identified', text: 'Found it.' },
          { at: 60 * SECOND, status: 'resolved', text: 'Over.' },
        ],
      },
    ],
    maintenances: [
      {
        key: 'work',
        title: 'Work',
        text: 'We work.',
        components: ['Apps'],
        announcedAt: 10 * SECOND,
        startsAt: 30 * SECOND,
        endsAt: 90 * SECOND,
      },
    ],
    faults: [],
    ...details,
  };
}
