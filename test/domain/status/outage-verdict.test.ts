/** "Is it me or the service?": what counts more. */
import t from 'tap';
import { OWNER_SEVERITIES } from '../../../src/domain/incident/owner-incident.ts';
import {
  judgeOutage,
  judgePage,
  OUTAGE_VERDICTS,
  type OutageFacts,
  type PageStanding,
  type PageStatus,
  standingOf,
} from '../../../src/domain/status/outage-verdict.ts';

const UP: OutageFacts = { status: 'up', isOutdated: false, scope: null, vendor: null };

t.test('our checks count more than the vendor, and the vendor more than nothing', async (t) => {
  const table: readonly (readonly [Partial<OutageFacts>, string])[] = [
    [{}, 'up'],
    [{ status: 'slow' }, 'slow'],
    [{ status: 'down', vendor: 'operational' }, 'down'],
    [{ status: 'down', vendor: 'maintenance' }, 'down'],
    [{ status: 'slow', scope: 'partial' }, 'partly_down'],
    [{ status: 'up', vendor: 'maintenance' }, 'maintenance'],
    [{ status: 'up', vendor: 'major' }, 'vendor_problem'],
    [{ status: 'slow', vendor: 'operational' }, 'slow'],
    [{ status: 'up', vendor: 'unknown' }, 'up'],
    [{ status: 'unknown' }, 'unknown'],
    [{ status: 'unknown', vendor: 'operational' }, 'unknown'],
    [{ status: 'unknown', vendor: 'major' }, 'vendor_problem'],
    [{ status: 'down', isOutdated: true }, 'unknown'],
    [{ status: 'down', isOutdated: true, vendor: 'maintenance' }, 'maintenance'],
  ];
  for (const [facts, verdict] of table)
    t.equal(judgeOutage({ ...UP, ...facts }).verdict, verdict, JSON.stringify(facts));
  t.same(
    OUTAGE_VERDICTS.filter((verdict) => !table.some(([, expected]) => expected === verdict)),
    [],
    'every verdict is in the table',
  );
});

t.test('it names the cause of a service that cannot be reached, if that is for everyone', async (t) => {
  const sentenceOf = (because: string | null, status: OutageFacts['status'] = 'down') =>
    judgeOutage({ ...UP, status, unreached: { because } }).sentence;
  t.match(sentenceOf('Router'), /because of Router\.$/);
  t.match(sentenceOf(null), /because of something in front of it\.$/);
  t.notMatch(sentenceOf('Router', 'up'), 'Router');
});

t.test('a pause and an announced maintenance override the status of a check', async (t) => {
  const table: readonly (readonly [Parameters<typeof standingOf>, PageStanding])[] = [
    [['up', false, false], 'up'],
    [['down', false, false], 'down'],
    [['unknown', false, false], 'unknown'],
    [['down', false, true], 'maintenance'],
    [['slow', false, true], 'maintenance'],
    [['up', false, true], 'up'],
    [['unknown', false, true], 'unknown'],
    [['down', true, false], 'paused'],
    [['down', true, true], 'paused'],
    [['up', true, false], 'paused'],
  ];
  for (const [given, standing] of table) t.equal(standingOf(...given), standing, given.join(' '));
});

const NOTHING = { reported: null, inMaintenance: false };

t.test('it returns the worst status of the services that are not paused', async (t) => {
  const table: readonly (readonly [readonly PageStanding[], string, number])[] = [
    [[], 'unknown', 0],
    [['paused', 'paused'], 'unknown', 0],
    [['unknown'], 'unknown', 1],
    [['unknown', 'up'], 'up', 2],
    [['up', 'maintenance'], 'maintenance', 2],
    [['maintenance', 'slow', 'up'], 'slow', 3],
    [['slow', 'up', 'down', 'paused'], 'down', 3],
  ];
  for (const [standings, status, watched] of table)
    t.match(judgePage(standings, NOTHING), { status, look: status, watched }, standings.join(' '));
  t.same(judgePage(['up', 'up', 'down', 'paused', 'maintenance', 'unknown', 'slow'], NOTHING).counts, {
    up: 2,
    slow: 1,
    down: 1,
    unknown: 1,
    maintenance: 1,
    paused: 1,
  });
});

t.test('what the owner reports makes the look worse, and leaves what checks see', async (t) => {
  // By what checks see, for [nothing, minor, major, critical] and for the same during maintenance.
  const table: Readonly<Record<PageStatus, readonly [readonly PageStatus[], readonly PageStatus[]]>> = {
    up: [
      ['up', 'slow', 'down', 'down'],
      ['maintenance', 'slow', 'down', 'down'],
    ],
    unknown: [
      ['unknown', 'slow', 'down', 'down'],
      ['maintenance', 'slow', 'down', 'down'],
    ],
    maintenance: [
      ['maintenance', 'slow', 'down', 'down'],
      ['maintenance', 'slow', 'down', 'down'],
    ],
    slow: [
      ['slow', 'slow', 'down', 'down'],
      ['slow', 'slow', 'down', 'down'],
    ],
    down: [
      ['down', 'down', 'down', 'down'],
      ['down', 'down', 'down', 'down'],
    ],
  };
  for (const status of Object.keys(table) as PageStatus[])
    for (const inMaintenance of [false, true])
      [null, ...OWNER_SEVERITIES].forEach((reported, index) => {
        const look = table[status][inMaintenance ? 1 : 0][index];
        const said = { reported, inMaintenance };
        t.match(judgePage([status, 'paused'], said), { status, look, ...said }, `${status} ${reported}`);
      });
});
