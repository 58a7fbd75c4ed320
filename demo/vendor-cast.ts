/** The vendors of `npm run demo`: one or more of each format, and what they say every five minutes. */
import type { FeedKindName } from '../src/feeds/feed-kind.ts';
import type { ScriptedIncident, ToldStatus, ToldUpdate, Vendor } from './vendors/script.ts';

const SECOND = 1_000;
const PERIOD_MS = 300 * SECOND;

/** Updates: a status and a text from these seconds of the period on. */
const told = (
  ...updates: readonly (readonly [second: number, status: ToldStatus, text: string])[]
): ToldUpdate[] => updates.map(([second, status, text]) => ({ at: second * SECOND, status, text }));

type IncidentDetails = Pick<ScriptedIncident, 'severity' | 'updates'> & Partial<ScriptedIncident>;

function incident(title: string, details: IncidentDetails): ScriptedIncident {
  const startsAt = details.updates[0]?.at ?? 0;
  return { key: title, title, components: [], startsAt, ...details };
}

const maintenance = (
  title: string,
  [announced, starts, ends]: readonly [announced: number, starts: number, ends: number],
  components: readonly string[] = [],
) => ({
  key: title,
  title,
  text: `${title}: no downtime is expected, but requests may be slower.`,
  components,
  announcedAt: announced * SECOND,
  startsAt: starts * SECOND,
  endsAt: ends * SECOND,
});

function vendor(kind: FeedKindName, name: string, details: Partial<Vendor>): Vendor {
  return {
    slug: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
    name,
    kind,
    components: [],
    periodMs: PERIOD_MS,
    incidents: [],
    maintenances: [],
    faults: [],
    ...details,
  };
}

/** The vendors. Everything is resolved a good while before the prober is cut off. */
export const DEMO_VENDORS: readonly Vendor[] = [
  vendor('statuspage', 'Nimbus', {
    components: ['Compute', 'Storage', 'Console'],
    incidents: [
      incident('Errors when reading & writing objects', {
        severity: 'critical',
        components: ['Storage'],
        startsAt: 90 * SECOND,
        updates: told(
          [110, 'investigating', 'We are looking into errors of the storage API.'],
          [130, 'identified', 'The cause is a full disk in one rack; traffic < 10 % of normal & falling.'],
          [175, 'monitoring', 'A fix is out and error rates are falling.'],
          [205, 'resolved', 'All requests are served again.'],
        ),
      }),
      incident('Console sign-in is slow', {
        severity: 'minor',
        components: ['Console'],
        updates: told(
          [40, 'investigating', 'Sign-in takes longer than usual.'],
          [100, 'resolved', 'Sign-in is quick again.'],
        ),
      }),
      incident('Delayed invoices', {
        severity: 'minor',
        updates: told(
          [212, 'identified', 'Invoices of this month are sent late, to all customers.'],
          [232, 'resolved', 'All invoices are sent.'],
        ),
      }),
    ],
    maintenances: [maintenance('Kernel upgrade of Compute', [10, 140, 190], ['Compute'])],
  }),
  vendor('statuspage', 'Cartographer', {
    incidents: [
      incident('Maps do not load', {
        severity: 'major',
        updates: told(
          [48, 'investigating', 'Maps answer with errors.'],
          [76, 'monitoring', 'A restart has helped.'],
          [90, 'resolved', 'Maps load again.'],
        ),
      }),
    ],
    maintenances: [maintenance('New map servers', [20, 112, 172])],
  }),
  vendor('statuspage', 'Quizzical', {}),
  vendor('statuspage', 'Gitorium', {
    incidents: [
      incident('Webhooks are delayed', {
        severity: 'minor',
        updates: told(
          [30, 'investigating', 'Webhooks arrive late.'],
          [58, 'identified', 'A queue is too long.'],
          [95, 'monitoring', 'The queue is being drained.'],
          [142, 'resolved', 'Webhooks arrive in time.'],
        ),
      }),
    ],
    faults: [
      { from: 66 * SECOND, to: 74 * SECOND, fault: { kind: 'unavailable', retryAfterSeconds: 2 } },
      { from: 103 * SECOND, to: 123 * SECOND, fault: { kind: 'html' } },
      { from: 170 * SECOND, to: 177 * SECOND, fault: { kind: 'cut' } },
    ],
  }),
  vendor('incidentio', 'Facegram', {
    components: ['Feed', 'Messages'],
    incidents: [
      incident('Elevated error rates', {
        severity: 'major',
        updates: told(
          [42, 'investigating', 'We are investigating errors for all members.'],
          [60, 'identified', 'A bad release is being rolled back.'],
          [92, 'monitoring', 'The release is rolled back.'],
          [105, 'resolved', 'Everything works again.'],
        ),
      }),
    ],
    maintenances: [maintenance('Database failover', [15, 180, 220])],
  }),
  vendor('instatus', 'Dungeon Relay', {
    components: ['Gateway'],
    incidents: [
      incident('Players cannot connect', {
        severity: 'major',
        updates: told(
          [60, 'investigating', ''],
          [75, 'identified', ''],
          [101, 'monitoring', ''],
          [120, 'resolved', ''],
        ),
      }),
    ],
    maintenances: [maintenance('Weekly reset', [130, 150, 210])],
  }),
  vendor('betterstack', 'Streamly', {
    components: ['Player', 'Catalogue'],
    incidents: [
      incident('Videos do not start', {
        severity: 'major',
        components: ['Player'],
        updates: told(
          [50, 'investigating', 'Investigating: the player waits for ever.'],
          [70, 'investigating', 'Still investigating, together with our CDN.'],
          [95, 'resolved', 'Videos play again.'],
        ),
      }),
    ],
    maintenances: [maintenance('Catalogue migration', [110, 140, 200], ['Catalogue'])],
  }),
  vendor('statusio', 'Parlour', {
    components: ['Chat', 'Calls'],
    incidents: [
      incident('Connections break', {
        severity: 'critical',
        components: ['Chat', 'Calls'],
        updates: told(
          [130, 'investigating', 'Connections break shortly after they are made.'],
          [145, 'identified', 'A load balancer has lost its configuration.'],
          [172, 'monitoring', 'The configuration is restored.'],
          [190, 'resolved', 'Everything is stable.'],
        ),
      }),
    ],
    maintenances: [maintenance('Call relay update', [20, 60, 100], ['Calls'])],
  }),
  vendor('gcp', 'Stratus Cloud', {
    components: ['Stratus Functions', 'Cumulus DNS', 'Cirrus Queues'],
    incidents: [
      incident('Functions fail to start', {
        severity: 'critical',
        components: ['Stratus Functions'],
        startsAt: 55 * SECOND,
        updates: told(
          [64, 'investigating', 'We are investigating failures to start functions.'],
          [90, 'investigating', 'We are still investigating, with no estimate yet.'],
          [150, 'resolved', 'The issue has been resolved for all users.'],
        ),
      }),
      incident('Multiple products: the console shows old data', {
        severity: 'minor',
        components: ['Stratus Functions', 'Cumulus DNS'],
        updates: told(
          [180, 'investigating', 'We are investigating old data in the console.'],
          [215, 'resolved', 'The issue has been resolved.'],
        ),
      }),
      incident('Queues are slow', {
        severity: 'major',
        components: ['Cirrus Queues'],
        updates: told(
          [20, 'investigating', 'We are investigating slow queues.'],
          [50, 'resolved', 'The issue has been resolved.'],
        ),
      }),
    ],
  }),
  vendor('aws', 'Skybooker', {
    components: ['Skybooker Bookings'],
    incidents: [
      incident('Increased API Error Rates', {
        severity: 'critical',
        components: ['Skybooker Bookings'],
        updates: told(
          [95, 'investigating', 'We are investigating increased error rates of bookings.'],
          [125, 'investigating', 'We continue to work on the recovery.'],
          [160, 'resolved', 'The error rates are back at normal levels.'],
        ),
      }),
    ],
  }),
  vendor('azure', 'Parcelpal', {
    components: ['Tracking', 'West Europe'],
    incidents: [
      incident('Tracking - West Europe', {
        severity: 'major',
        components: ['Tracking', 'West Europe'],
        updates: told(
          [100, 'investigating', 'We are investigating failures of parcel tracking.'],
          [155, 'resolved', 'Tracking works again.'],
        ),
      }),
    ],
  }),
  vendor('slack', 'Whistle', {
    components: ['Notifications', 'Search'],
    incidents: [
      incident('Delayed notifications', {
        severity: 'minor',
        components: ['Notifications'],
        updates: told(
          [55, 'investigating', 'We are investigating late notifications.'],
          [85, 'investigating', 'We are working on it & expect news soon.'],
          [115, 'resolved', 'Notifications arrive in time.'],
        ),
      }),
      incident('Search does not answer', {
        severity: 'major',
        components: ['Search'],
        updates: told(
          [130, 'investigating', 'We are investigating search.'],
          [170, 'resolved', 'Search answers again.'],
        ),
      }),
    ],
  }),
  vendor('heroku', 'Buildbarn', {
    components: ['Apps', 'Data'],
    incidents: [
      incident('Builds wait in a queue', {
        severity: 'minor',
        components: ['Apps'],
        updates: told(
          [70, 'investigating', 'Builds wait longer than usual.'],
          [140, 'resolved', 'Builds start at once.'],
        ),
      }),
    ],
  }),
  vendor('salesforce', 'Ledgerly', {
    components: ['EU1', 'EU2'],
    incidents: [
      incident('', {
        key: 'certificate',
        severity: 'major',
        components: ['EU1'],
        updates: told([118, 'investigating', ''], [170, 'resolved', '']),
      }),
      incident('', {
        key: 'other instance',
        severity: 'major',
        components: ['EU2'],
        updates: told([30, 'investigating', ''], [80, 'resolved', '']),
      }),
    ],
  }),
  vendor('rss', 'Thinkbox', {
    incidents: [
      incident('Slow answers', {
        severity: 'minor',
        updates: told(
          [75, 'investigating', 'Answers take longer than usual.'],
          [95, 'identified', 'Too many questions about life & everything.'],
          [125, 'resolved', 'Answers are quick again.'],
        ),
      }),
    ],
  }),
  vendor('atom', 'Notepile', {
    incidents: [
      incident('Notes do not sync', {
        severity: 'minor',
        updates: told(
          [80, 'investigating', 'Notes stay on the device.'],
          [120, 'monitoring', 'Sync is restarted.'],
          [160, 'resolved', 'All notes are in sync.'],
        ),
      }),
    ],
  }),
];
