/** Vendors of a short play: one of each format, a silent one, and one whose server breaks. */
import type { FeedKindName } from '../../src/feeds/feed-list.ts';
import type { Vendor } from './vendors/script.ts';

const SECOND = 1_000;

/** Parts of every page of the short play; services are served by the first alone. */
export const SHORT_PART = 'Front & back';
const OTHER_PART = 'Elsewhere';

const KINDS: readonly FeedKindName[] = [
  'statuspage',
  'incidentio',
  'instatus',
  'betterstack',
  'statusio',
  'gcp',
  'aws',
  'azure',
  'slack',
  'heroku',
  'salesforce',
  'rss',
  'atom',
];

/** The vendors; those of one format are named by it. They speak from 9 s to 17 s. */
export function shortVendors(periodMs: number): Vendor[] {
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
      startsAt: 9 * SECOND,
      updates: [
        {
          at: 9 * SECOND,
          status: 'investigating' as const,
          text: 'We are investigating errors & time-outs.',
        },
        { at: 11 * SECOND, status: 'identified' as const, text: 'The cause is found: memory < 1 GiB.' },
        { at: 13 * SECOND, status: 'monitoring' as const, text: 'A fix is out.' },
        { at: 17 * SECOND, status: 'resolved' as const, text: 'All is well.' },
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
          announcedAt: 2 * SECOND,
          startsAt: 19 * SECOND,
          endsAt: 79 * SECOND,
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
          startsAt: 4 * SECOND,
          updates: [
            { at: 6 * SECOND, status: 'investigating', text: 'We look into it.' },
            { at: 100 * SECOND, status: 'resolved', text: 'It is over.' },
          ],
        },
      ],
      faults: [
        { from: 12 * SECOND, to: 15 * SECOND, fault: { kind: 'html' } },
        { from: 15 * SECOND, to: 18 * SECOND, fault: { kind: 'cut' } },
        { from: 18 * SECOND, to: 22 * SECOND, fault: { kind: 'unavailable', retryAfterSeconds: 1 } },
      ],
    },
  ];
}

function namesParts(kind: FeedKindName): boolean {
  return !['incidentio', 'instatus', 'azure', 'rss', 'atom'].includes(kind);
}
