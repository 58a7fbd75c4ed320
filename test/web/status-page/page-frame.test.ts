/** The headline of an owner's page in all combinations of what its owner reports and what checks see. */
import t from 'tap';
import { OWNER_SEVERITIES } from '../../../src/domain/incident/owner-incident.ts';
import { judgePage, type PageStanding } from '../../../src/domain/status/outage-verdict.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import { describePage } from '../../../src/web/status-page/page-frame.ts';

/** By what checks see: the headline of a page that says nothing, during announced maintenance, and with an incident. */
const TABLE: readonly (readonly [readonly PageStanding[], string, string, string])[] = [
  [
    ['up', 'up'],
    'All 2 services are operational.',
    'Maintenance in progress; our checks pass.',
    'Incident reported; our checks pass.',
  ],
  [
    ['up'],
    'The service is operational.',
    'Maintenance in progress; our checks pass.',
    'Incident reported; our checks pass.',
  ],
  [
    ['up', 'unknown'],
    '1 of 2 services is operational.',
    'Maintenance in progress; 1 of 2 services is operational.',
    'Incident reported; 1 of 2 services is operational.',
  ],
  [
    ['unknown', 'paused'],
    'No service has been checked yet.',
    'Maintenance in progress; no service has been checked yet.',
    'Incident reported; no service has been checked yet.',
  ],
  [
    ['paused'],
    'No service is monitored here at the moment.',
    'Maintenance in progress.',
    'Incident reported.',
  ],
  [
    ['up', 'slow'],
    '1 of 2 services is slow.',
    '1 of 2 services is slow.',
    'Incident reported; 1 of 2 services is slow.',
  ],
  [
    ['down', 'down', 'slow'],
    '2 of 3 services are down.',
    '2 of 3 services are down.',
    'Incident reported; 2 of 3 services are down.',
  ],
  [
    ['maintenance', 'up'],
    '1 of 2 services is under maintenance.',
    '1 of 2 services is under maintenance.',
    'Incident reported; 1 of 2 services is under maintenance.',
  ],
];

t.test('it says what the owner reports, and what checks see', async (t) => {
  for (const [standings, quiet, maintained, reported] of TABLE)
    for (const severity of [null, ...OWNER_SEVERITIES])
      for (const inMaintenance of [false, true]) {
        const verdict = judgePage(standings, { reported: severity, inMaintenance });
        const text = severity !== null ? reported : inMaintenance ? maintained : quiet;
        t.same(describePage(verdict, true, LANGUAGES.en), { look: verdict.look, text });
        const german = describePage(verdict, true, LANGUAGES.de).text;
        t.match(german, /^[A-Z0-9].*[^.]\.$/);
        t.equal(german.startsWith('Vorfall gemeldet'), severity !== null, german);
      }
});

t.test('it is the last known state where no checks are made', async (t) => {
  const quiet = { reported: null, inMaintenance: false };
  const headline = (standings: readonly PageStanding[], said = {}) =>
    describePage(judgePage(standings, { ...quiet, ...said }), false, LANGUAGES.en);
  t.same(headline(['up', 'up']), {
    look: 'unknown',
    text: 'Last known: all 2 services are operational.',
  });
  t.same(headline(['down', 'up']), { look: 'unknown', text: 'Last known: 1 of 2 services is down.' });
  t.same(headline(['unknown']), { look: 'unknown', text: 'No service has been checked yet.' });
  t.same(headline(['up', 'up'], { reported: 'critical' }), {
    look: 'down',
    text: 'Incident reported; last known: all 2 services are operational.',
  });
});
