/** The vendors of `npm run demo`, at least one of each format, and what they publish in each period of five minutes. */
import type { ScriptedIncident, SimulatedKind, ToldSeverity, ToldStatus, Vendor } from './vendors/script.ts';

const SECOND = 1_000;
const PERIOD_MS = 300 * SECOND;

/** A status and a text that are published in this second of the period. */
type Published = readonly [second: number, status: ToldStatus, text: string];

/** An incident with its updates; it starts with the first one unless `more` says otherwise. */
const incident =
  (
    title: string,
    severity: ToldSeverity,
    components: readonly string[] = [],
    more: { readonly key?: string; readonly startsAt?: number } = {},
  ) =>
  (...published: readonly Published[]): ScriptedIncident => {
    const updates = published.map(([second, status, text]) => ({ at: second * SECOND, status, text }));
    return { key: title, title, severity, components, startsAt: updates[0]?.at ?? 0, updates, ...more };
  };

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

function vendor(kind: SimulatedKind, name: string, details: Partial<Vendor>): Vendor {
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

/** The vendors. Every incident is resolved well before the prober is cut off. */
export const DEMO_VENDORS: readonly Vendor[] = [
  vendor('statuspage', 'Nimbus', {
    components: ['Compute', 'Storage', 'Console'],
    incidents: [
      incident('Errors when reading & writing objects', 'critical', ['Storage'], { startsAt: 90 * SECOND })(
        [110, 'investigating', 'We are looking into errors of the storage API.'],
        [130, 'identified', 'The cause is a full disk in one rack; traffic < 10 % of normal & falling.'],
        [175, 'monitoring', 'A fix is out and error rates are falling.'],
        [205, 'resolved', 'All requests are served again.'],
      ),
      incident('Console sign-in is slow', 'minor', ['Console'])(
        [40, 'investigating', 'Sign-in takes longer than usual.'],
        [100, 'resolved', 'Sign-in is quick again.'],
      ),
      incident('Delayed invoices', 'minor')(
        [212, 'identified', 'Invoices of this month are sent late, to all customers.'],
        [232, 'resolved', 'All invoices are sent.'],
      ),
    ],
    maintenances: [maintenance('Kernel upgrade of Compute', [10, 140, 190], ['Compute'])],
  }),
  vendor('statuspage', 'Cartographer', {
    incidents: [
      incident('Maps do not load', 'major')(
        [48, 'investigating', 'Maps answer with errors.'],
        [76, 'monitoring', 'A restart has helped.'],
        [90, 'resolved', 'Maps load again.'],
      ),
    ],
    maintenances: [maintenance('New map servers', [20, 112, 172])],
  }),
  vendor('statuspage', 'Quizzical', {}),
  vendor('statuspage', 'Gitorium', {
    incidents: [
      incident('Webhooks are delayed', 'minor')(
        [30, 'investigating', 'Webhooks arrive late.'],
        [58, 'identified', 'A queue is too long.'],
        [95, 'monitoring', 'The queue is being drained.'],
        [142, 'resolved', 'Webhooks arrive in time.'],
      ),
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
      incident('Elevated error rates', 'major')(
        [42, 'investigating', 'We are investigating errors for all members.'],
        [60, 'identified', 'A bad release is being rolled back.'],
        [92, 'monitoring', 'The release is rolled back.'],
        [105, 'resolved', 'Everything works again.'],
      ),
    ],
    maintenances: [maintenance('Database failover', [15, 180, 220])],
  }),
  vendor('instatus', 'Dungeon Relay', {
    components: ['Gateway'],
    incidents: [
      incident('Players cannot connect', 'major')(
        [60, 'investigating', ''],
        [75, 'identified', ''],
        [101, 'monitoring', ''],
        [120, 'resolved', ''],
      ),
    ],
    maintenances: [maintenance('Weekly reset', [130, 150, 210])],
  }),
  vendor('betterstack', 'Streamly', {
    components: ['Player', 'Catalogue'],
    incidents: [
      incident('Videos do not start', 'major', ['Player'])(
        [50, 'investigating', 'Investigating: the player waits for ever.'],
        [70, 'investigating', 'Still investigating, together with our CDN.'],
        [95, 'resolved', 'Videos play again.'],
      ),
    ],
    maintenances: [maintenance('Catalogue migration', [110, 140, 200], ['Catalogue'])],
  }),
  vendor('statusio', 'Parlour', {
    components: ['Chat', 'Calls'],
    incidents: [
      incident('Connections break', 'critical', ['Chat', 'Calls'])(
        [130, 'investigating', 'Connections break shortly after they are made.'],
        [145, 'identified', 'A load balancer has lost its configuration.'],
        [172, 'monitoring', 'The configuration is restored.'],
        [190, 'resolved', 'Everything is stable.'],
      ),
    ],
    maintenances: [maintenance('Call relay update', [20, 60, 100], ['Calls'])],
  }),
  vendor('gcp', 'Stratus Cloud', {
    components: ['Stratus Functions', 'Cumulus DNS', 'Cirrus Queues'],
    incidents: [
      incident('Functions fail to start', 'critical', ['Stratus Functions'], { startsAt: 55 * SECOND })(
        [64, 'investigating', 'We are investigating failures to start functions.'],
        [90, 'investigating', 'We are still investigating, with no estimate yet.'],
        [150, 'resolved', 'The issue has been resolved for all users.'],
      ),
      incident('Multiple products: the console shows old data', 'minor', [
        'Stratus Functions',
        'Cumulus DNS',
      ])(
        [180, 'investigating', 'We are investigating old data in the console.'],
        [215, 'resolved', 'The issue has been resolved.'],
      ),
      incident('Queues are slow', 'major', ['Cirrus Queues'])(
        [20, 'investigating', 'We are investigating slow queues.'],
        [50, 'resolved', 'The issue has been resolved.'],
      ),
    ],
  }),
  vendor('aws', 'Skybooker', {
    components: ['Skybooker Bookings'],
    incidents: [
      incident('Increased API Error Rates', 'critical', ['Skybooker Bookings'])(
        [95, 'investigating', 'We are investigating increased error rates of bookings.'],
        [125, 'investigating', 'We continue to work on the recovery.'],
        [160, 'resolved', 'The error rates are back at normal levels.'],
      ),
    ],
  }),
  vendor('azure', 'Parcelpal', {
    components: ['Tracking', 'West Europe'],
    incidents: [
      incident('Tracking - West Europe', 'major', ['Tracking', 'West Europe'])(
        [100, 'investigating', 'We are investigating failures of parcel tracking.'],
        [155, 'resolved', 'Tracking works again.'],
      ),
    ],
  }),
  vendor('slack', 'Whistle', {
    components: ['Notifications', 'Search'],
    incidents: [
      incident('Delayed notifications', 'minor', ['Notifications'])(
        [55, 'investigating', 'We are investigating late notifications.'],
        [85, 'investigating', 'We are working on it & expect news soon.'],
        [115, 'resolved', 'Notifications arrive in time.'],
      ),
      incident('Search does not answer', 'major', ['Search'])(
        [130, 'investigating', 'We are investigating search.'],
        [170, 'resolved', 'Search answers again.'],
      ),
    ],
  }),
  vendor('heroku', 'Buildbarn', {
    components: ['Apps', 'Data'],
    incidents: [
      incident('Builds wait in a queue', 'minor', ['Apps'])(
        [70, 'investigating', 'Builds wait longer than usual.'],
        [140, 'resolved', 'Builds start at once.'],
      ),
    ],
  }),
  vendor('salesforce', 'Ledgerly', {
    components: ['EU1', 'EU2'],
    incidents: [
      incident('', 'major', ['EU1'], { key: 'certificate' })(
        [118, 'investigating', ''],
        [170, 'resolved', ''],
      ),
      incident('', 'major', ['EU2'], { key: 'other instance' })(
        [30, 'investigating', ''],
        [80, 'resolved', ''],
      ),
    ],
  }),
  vendor('rss', 'Thinkbox', {
    incidents: [
      incident('Slow answers', 'minor')(
        [75, 'investigating', 'Answers take longer than usual.'],
        [95, 'identified', 'Too many questions about life & everything.'],
        [125, 'resolved', 'Answers are quick again.'],
      ),
    ],
  }),
  vendor('atom', 'Notepile', {
    incidents: [
      incident('Notes do not sync', 'minor')(
        [80, 'investigating', 'Notes stay on the device.'],
        [120, 'monitoring', 'Sync is restarted.'],
        [160, 'resolved', 'All notes are in sync.'],
      ),
    ],
  }),
  vendor('azuredevops', 'Packhouse', {
    components: ['Registry', 'Builds'],
    incidents: [
      incident('Registry', 'major', ['Registry'])([60, 'investigating', ''], [110, 'resolved', '']),
    ],
  }),
  vendor('meta', 'Chirrup', {
    components: ['Posts', 'Direct messages'],
    incidents: [incident('Posts', 'minor', ['Posts'])([90, 'investigating', ''], [150, 'resolved', ''])],
  }),
  vendor('microsoft365', 'Kanbanana', {
    components: ['Boards', 'Reports'],
    incidents: [
      incident('Some users may be unable to open boards', 'major', ['Boards'])(
        [70, 'investigating', 'Boards do not open for some users.'],
        [100, 'investigating', 'We are restarting the affected infrastructure.'],
        [135, 'resolved', ''],
      ),
    ],
  }),
  vendor('apple', 'Calendaria', {
    components: ['Invitations', 'Reminders'],
    incidents: [
      incident('Some invitations may not be delivered', 'minor', ['Invitations'])(
        [50, 'investigating', ''],
        [120, 'resolved', ''],
      ),
    ],
    maintenances: [maintenance('Reminders are moved', [20, 150, 200], ['Reminders'])],
  }),
  vendor('uptimerobot', 'Pixelforge', {
    components: ['Editor', 'Gallery'],
    incidents: [
      incident('The gallery shows old pictures', 'minor')([45, 'investigating', ''], [95, 'resolved', '']),
    ],
  }),
  vendor('sorry', 'Learnify', {
    components: ['Courses', 'Exams'],
    incidents: [
      incident('Videos of courses stop', 'minor', ['Courses'])(
        [65, 'investigating', 'We look into videos that stop.'],
        [90, 'identified', 'A cache is full.'],
        [125, 'monitoring', 'The cache is larger now.'],
        [150, 'resolved', 'Videos play to their end.'],
      ),
    ],
    maintenances: [maintenance('New servers for exams', [15, 160, 210], ['Exams'])],
  }),
  vendor('pagerduty', 'Mailhaven', {
    components: ['Sending', 'Receiving'],
    incidents: [
      incident('Mail is sent late', 'critical', ['Sending'])(
        [35, 'investigating', 'Mail waits in our queues.'],
        [80, 'identified', 'A list of blocked senders has <all> of us.'],
        [140, 'resolved', 'Mail is sent at once.'],
      ),
    ],
    maintenances: [maintenance('New storage for mail', [20, 150, 205], ['Receiving'])],
  }),
  vendor('statuscast', 'Podcastle', {
    incidents: [
      incident('Episodes load slowly', 'minor')(
        [55, 'investigating', 'We are investigating episodes that load slowly.'],
        [130, 'resolved', 'Episodes load as fast as ever.'],
      ),
    ],
  }),
  vendor('statuspal', 'Innkeeper', {
    components: ['Bookings', 'Reviews'],
    incidents: [
      incident('Bookings are not confirmed', 'major', ['Bookings'])(
        [75, 'investigating', 'We look into confirmations that do not arrive.'],
        [105, 'identified', 'A certificate of a partner has ended.'],
        [145, 'monitoring', 'The partner has a new one.'],
        [175, 'resolved', 'Bookings are confirmed.'],
      ),
    ],
    maintenances: [maintenance('Move of reviews', [10, 120, 180], ['Reviews'])],
  }),
  vendor('cachet', 'Schola', {
    components: ['Library', 'Timetable'],
    incidents: [
      incident('Timetable is empty', 'minor', ['Timetable'])(
        [40, 'investigating', 'Timetables are empty.'],
        [85, 'identified', 'The import of this night has failed.'],
        [115, 'resolved', 'Timetables are back.'],
      ),
    ],
    maintenances: [maintenance('Library closed', [25, 130, 190], ['Library'])],
  }),
  vendor('cstate', 'Meshnet Coop', {
    components: ['North', 'South'],
    incidents: [
      incident('Radio link to the south is weak', 'minor', ['South'])(
        [60, 'investigating', ''],
        [160, 'resolved', ''],
      ),
    ],
  }),
  vendor('uptimekuma', 'Railhead', {
    components: ['Tracking', 'Customs'],
    incidents: [
      incident('Customs forms are not accepted', 'major')(
        [50, 'investigating', 'Forms are refused.'],
        [90, 'investigating', 'The customs office is asked.'],
        [140, 'resolved', ''],
      ),
    ],
    maintenances: [maintenance('Tracking update', [20, 160, 210])],
  }),
  vendor('upbeat', 'Wanderlist', {
    components: ['Maps', 'Trips'],
    incidents: [
      incident('Trips are saved twice', 'major', ['Trips'])(
        [70, 'investigating', 'Trips appear twice.'],
        [110, 'monitoring', 'Doubles are removed.'],
        [155, 'resolved', 'Each trip is there once.'],
      ),
    ],
    maintenances: [maintenance('New maps', [30, 170, 215], ['Maps'])],
  }),
  vendor('firehydrant', 'Bricklane', {
    components: ['Orders', 'Payments'],
    incidents: [
      incident('Payments are refused', 'critical', ['Payments'])(
        [45, 'investigating', 'Cards are refused.'],
        [80, 'identified', 'A key of a bank has ended.'],
        [120, 'monitoring', 'The new key is in use.'],
        [165, 'resolved', 'All cards are accepted.'],
      ),
    ],
  }),
  vendor('okta', 'Keymaster', {
    components: ['Sign-in', 'Workflows'],
    incidents: [
      incident('Sign-in fails for some', 'major', ['Sign-in'])(
        [65, 'investigating', 'Some people cannot sign in.'],
        [100, 'investigating', 'A cache is being emptied.'],
        [150, 'resolved', 'Everybody can sign in.'],
      ),
    ],
  }),
  vendor('nintendo', 'Playhouse', {
    components: ['Shop', 'Online play'],
    incidents: [
      incident('Online play', 'major', ['Online play'])([70, 'investigating', ''], [140, 'resolved', '']),
    ],
    maintenances: [maintenance('Shop', [20, 155, 205], ['Shop'])],
  }),
  vendor('zscaler', 'Gatehouse', {
    components: ['Proxy', 'Reports'],
    incidents: [
      incident('Pages load slowly', 'minor', ['Proxy'])(
        [55, 'investigating', 'Pages take seconds through one site.'],
        [95, 'investigating', 'Traffic goes through another site.'],
        [135, 'resolved', ''],
      ),
    ],
  }),
];
