/** Vendors of a short play: one of each format, a silent one, and one whose server breaks. */

import type { SimulatedKind, Vendor } from '../../demo/vendors/script.ts';
import { VENDOR_KINDS } from '../../demo/vendors/vendor-kinds.ts';

/** Parts of every page of the short play; services are served by the first alone. */
export const SHORT_PART = 'Front & back';
const OTHER_PART = 'Elsewhere';

const KINDS = Object.keys(VENDOR_KINDS) as readonly SimulatedKind[];

/** The vendors; those of one format are named by it. They speak from the 9th to the 17th of the play's seconds. */
export function shortVendors(periodMs: number, secondMs: number): Vendor[] {
  const none = {
    periodMs,
    components: [SHORT_PART, OTHER_PART],
    incidents: [],
    maintenances: [],
    faults: [],
  };
  const each = KINDS.map((kind): Vendor => {
    const incident = {
      severity: 'major' as const,
      startsAt: 9 * secondMs,
      updates: [
        {
          at: 9 * secondMs,
          status: 'investigating' as const,
          text: 'We are investigating errors & time-outs.',
        },
        { at: 11 * secondMs, status: 'identified' as const, text: 'The cause is found: memory < 1 GiB.' },
        { at: 13 * secondMs, status: 'monitoring' as const, text: 'A fix is out.' },
        { at: 17 * secondMs, status: 'resolved' as const, text: 'All is well.' },
      ],
    };
    return {
      ...none,
      slug: kind,
      name: `Vendor of ${kind}`,
      kind,
      incidents: [
        { ...incident, key: 'ours', title: 'Errors & time-outs', components: [SHORT_PART] },
        // Some formats do not say what an incident concerns; then it concerns everybody.
        ...(namesParts(kind)
          ? [{ ...incident, key: 'other', title: 'Not of this service', components: [OTHER_PART] }]
          : []),
      ],
      maintenances: [
        {
          key: 'work',
          title: 'New disks',
          text: 'We change disks.',
          components: [SHORT_PART],
          announcedAt: 2 * secondMs,
          startsAt: 19 * secondMs,
          endsAt: 79 * secondMs,
        },
      ],
    };
  });
  return [
    ...each,
    { ...none, slug: 'silent', name: 'Silent', kind: 'statuspage' },
    {
      ...none,
      slug: 'faulty',
      name: 'Faulty',
      kind: 'statuspage',
      incidents: [
        {
          key: 'long',
          title: 'A long one',
          severity: 'minor',
          components: [],
          startsAt: 4 * secondMs,
          updates: [
            { at: 6 * secondMs, status: 'investigating', text: 'We look into it.' },
            { at: 100 * secondMs, status: 'resolved', text: 'It is over.' },
          ],
        },
      ],
      faults: [
        { from: 12 * secondMs, to: 15 * secondMs, fault: { kind: 'html' } },
        { from: 15 * secondMs, to: 18 * secondMs, fault: { kind: 'cut' } },
        {
          from: 18 * secondMs,
          to: 22 * secondMs,
          fault: { kind: 'unavailable', retryAfterSeconds: Math.round(secondMs / 1_000) },
        },
      ],
    },
  ];
}

function namesParts(kind: SimulatedKind): boolean {
  return !['incidentio', 'instatus', 'rss', 'atom', 'statuscast', 'uptimerobot', 'uptimekuma'].includes(kind);
}
