/** What an owner reports on a page of status. */
import t from 'tap';
import { OWNER_SEVERITIES } from '../../../src/domain/incident/owner-incident.ts';
import { judgePage, type PageStanding } from '../../../src/domain/status/outage-verdict.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import { describePage } from '../../../src/web/status-page/page-content.ts';
import { start } from '../../site/posting-account.ts';
import { check, current, NOW } from '../../site/site-world.ts';

const SAID = {
  title: 'Orders  are late',
  severity: 'major',
  text: 'We **look** into it.',
  services: ['shop'],
};

t.test('a page is not green while its owner reports an incident', async (t) => {
  const { world, ada, send } = await start(t);
  await world.status.put([current(1, check(NOW - 30_000)), current(2, check(NOW - 30_000))]);
  const read = async () => {
    const [page, embed, json, shop] = await Promise.all([
      world.get('/p/acme'),
      world.get('/p/acme/embed'),
      send('GET', '/api/v1/pages/acme'),
      world.get('/status/shop'),
    ]);
    const [, title] = /<title>(.*?)<\/title>/.exec(page.text) ?? [];
    const [, description] = /name="description" content="(.*?)"/.exec(page.text) ?? [];
    const [, look, headline] = /class="overall (\w+)"[\s\S]*?<strong>(.*?)<\/strong>/.exec(page.text) ?? [];
    const [, framed, inFrame] = /class="overall (\w+)"[\s\S]*?<strong>(.*?)<\/strong>/.exec(embed.text) ?? [];
    const [, ofService, answer] = /<h1 class="answer (\w+)"[\s\S]*?<span>(.*?)<\/span>/.exec(shop.text) ?? [];
    const { status, reported } = json.json;
    return { title, description, look, headline, framed, inFrame, ofService, answer, status, reported };
  };
  const said = 'Incident reported; our checks pass.';
  const ofCritical = {
    title: `Acme: ${said}`,
    description: said,
    look: 'down',
    headline: said,
    framed: 'down',
    inFrame: said,
    ofService: 'down',
    answer: 'Shop: incident reported; our checks pass',
    status: 'up',
    reported: 'critical',
  };
  const sent = await send('POST', '/api/v1/incidents', { ...SAID, severity: 'critical' }, ada);
  t.match(await read(), ofCritical);
  const path = `/api/v1/incidents/${sent.json.id}`;
  await send('PATCH', path, { severity: 'minor' }, ada);
  t.match(await read(), {
    ...ofCritical,
    look: 'slow',
    framed: 'slow',
    ofService: 'slow',
    reported: 'minor',
  });
  await send('POST', `${path}/updates`, { status: 'resolved', text: 'Over.' }, ada);
  t.match(await read(), {
    look: 'up',
    headline: 'All 2 services are operational.',
    ofService: 'up',
    answer: 'Shop is up',
    reported: null,
  });
  t.match((await world.get('/p/acme')).text, /Recently resolved[\s\S]*Over\./);
});

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
