/** Incidents on pages: in the list of a service, and on a page of their own. */
import fc from 'fast-check';
import t from 'tap';
import { incidentPath } from '../../../src/domain/incident/incident.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import { viewPageIncident, webAddress } from '../../../src/web/parts/incidents.ts';
import { incident, NOW } from '../../site/site-world.ts';
import { ODD_ID, startServiceWorld } from '../service-world.ts';

const { en, de } = LANGUAGES;
const MINUTE = 60_000;

t.test('it shows an incident with its timeline, newest first', async (t) => {
  const view = viewPageIncident(
    incident('own-1-2', 1, {
      severity: 'critical',
      status: 'resolved',
      startedAt: NOW - 60 * MINUTE,
      resolvedAt: NOW - 30 * MINUTE,
      updates: [
        {
          at: NOW - 60 * MINUTE,
          status: 'investigating',
          text: 'It fails.',
          note: {
            code: 'opened',
            name: 'Shop',
            outage: 'unreachable',
            domain: 'shop.example',
            isReported: false,
            reason: null,
          },
        },
        { at: NOW - 30 * MINUTE, status: 'resolved', text: '' },
      ],
    }),
    'shop-example',
    NOW,
    de,
  );
  t.same(view, {
    title: 'Shop ist nicht erreichbar',
    path: '/status/shop-example/incidents/own-1-2',
    look: 'up',
    status: 'behoben',
    severity: 'kritisch',
    severityLook: 'critical',
    isOpen: false,
    voice: 'own',
    source: 'Von unseren Prüfungen gesehen',
    began: ['begann ', { at: NOW - 60 * MINUTE, shown: 'time' }, ''],
    ended: ['endete ', { at: NOW - 30 * MINUTE, shown: 'time' }, ''],
    duration: ['30 Min.'],
    when: [{ at: NOW - 60 * MINUTE, shown: 'age' }],
    lasted: 'dauerte 30 Min.',
    description: 'shop.example ist gestört: ein Grund ist nicht bekannt.',
    vendorUrl: null,
    timeline: [
      { status: 'behoben', time: [{ at: NOW - 30 * MINUTE, shown: 'second' }], text: '' },
      {
        status: 'wird untersucht',
        time: [{ at: NOW - 60 * MINUTE, shown: 'second' }],
        text: 'shop.example ist gestört: ein Grund ist nicht bekannt.',
      },
    ],
    timelineLabel: 'Verlauf, 2 Einträge',
    earlier: 0,
  });
  const silent = { code: 'opened', name: 'Shop', outage: 'silent', isReported: true, reason: null } as const;
  const note = { ...silent, domain: 'shop.example' };
  const updates = [{ at: NOW, status: 'investigating', text: 'It is down.', note }] as const;
  t.same(
    [en, de].map((language) => viewPageIncident(incident('x', 1, { updates }), 'shop', NOW, language).source),
    ['Reported by its heartbeats', 'An seinen Lebenszeichen festgestellt'],
    'a service that sends heartbeats is not checked',
  );
  const look = (more: object) => viewPageIncident(incident('x', 1, more), 'shop-example', NOW, en).look;
  t.same(
    [
      { severity: 'minor' },
      { severity: 'critical' },
      { status: 'monitoring' },
      { severity: 'maintenance' },
    ].map(look),
    ['down', 'down', 'slow', 'maintenance'],
    'the state, since the severity is marked apart',
  );
});

t.test('it leads to the page of an incident whatever its id holds', async (t) => {
  const words = fc
    .array(fc.oneof(fc.integer({ min: 1, max: 0x7f }), fc.integer({ min: 0x80, max: 0xd7ff })), {
      maxLength: 20,
    })
    .map((codes) => String.fromCharCode(...codes));
  fc.assert(
    fc.property(words, (text) => {
      const path = incidentPath('shop-example', `rss-${text}`);
      const url = new URL(path, 'https://upbeat.test');
      return url.pathname === path && decodeURIComponent(path.split('/').at(-1) ?? '') === `rss-${text}`;
    }),
  );
  for (const [text, address] of [
    ['https://status.example/a', 'https://status.example/a'],
    ['HTTP://status.example', 'HTTP://status.example'],
    ['javascript:alert(1)', null],
    ['data:text/html,x', null],
    ['//status.example', null],
    ['https://[', null],
    ['', null],
  ] as const)
    t.equal(webAddress(text), address, text);
});

t.test('it has a page for each incident, with the way to its neighbours, and 404 for others', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const { text } = await world.get('/status/pier-example/incidents/statuspage-1-pier');
  t.match(text, /<h1>Elevated errors in the EU<\/h1>/);
  t.match(text, 'href="https://status.vendor.example/incidents/statuspage-1-pier"');
  t.match(text, /rel="prev" href="\/status\/pier-example\/incidents\/own-3-7"/);
  t.match(text, /rel="next" href="\/status\/pier-example\/incidents\/own-3-9"/);
  const newest = (await world.get('/status/pier-example/incidents/own-3-9')).text;
  t.notMatch(newest, 'rel="next"');
  t.match((await world.get(`/status/hostile-example/incidents/${encodeURIComponent(ODD_ID)}`)).status, 200);
  for (const path of [
    '/status/pier-example/incidents/own-3-8',
    '/status/pier-example/incidents/statuspage-3-wordy',
    '/status/pier-example/incidents/%3Cb%3E',
    '/status/nobody/incidents/own-3-9',
  ]) {
    const answer = await world.get(path, { accept: 'text/html' });
    t.equal(answer.status, 404, path);
    t.match(answer.headers.get('content-type'), 'text/html', path);
  }
  for (const path of ['/status/pier-example/incidents/%', '/status/pier-example/incidents/%E0%A4%A'])
    t.ok((await world.get(path)).status < 500, path);
});

t.test('it says how long an incident lasted, and what the vendor said of it when', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const { text } = await world.get('/status/pier-example/incidents/own-3-7');
  t.match(text, /<dt>Duration<\/dt><dd>2 hr 10 min<\/dd>/);
  t.match(text, /<dt>The vendor reported it<\/dt><dd>10 min later<\/dd>/);
  t.match(text, 'The vendor reported it 10 min after our first failed check.');
  t.match(text, /The vendor&#39;s report: <a href="\/status\/pier-example\/incidents\/statuspage-1-pier">/);
  const order = [...text.matchAll(/<strong>(Our checks|The vendor)<\/strong> · (?:(\+[^·]+) · )?<time/g)];
  t.same(
    order.map(([, voice, offset = '0']) => [voice, offset]),
    [
      ['The vendor', '+3 hr 10 min'],
      ['Our checks', '+2 hr 10 min'],
      ['Our checks', '+2 hr'],
      ['The vendor', '+10 min'],
      ['Our checks', '0'],
    ],
    'all entries in one list, newest first',
  );
  t.match(text, /value="https:\/\/upbeat\.test\/status\/pier-example\/incidents\/own-3-7" data-copy="Copy"/);
  t.match(text, /src="\/badges\/pier-example\/picture" alt="Pier: Down"/);
  t.notMatch(text, 'data-live-at', 'a resolved incident does not change');

  const other = (await world.get('/status/pier-example/incidents/statuspage-1-pier')).text;
  t.match(other, 'The vendor reported it 10 min after our first failed check.');
  t.match(other, /What our checks saw: <a href="\/status\/pier-example\/incidents\/own-3-7">/);
  const alone = (await world.get('/status/wordy-example/incidents/statuspage-3-wordy')).text;
  t.match(alone, 'None of our checks failed during this time.');
});

t.test('a running incident counts on, and says what the vendor has not said', async (t) => {
  const world = await startServiceWorld();
  t.teardown(world.close);
  const path = '/status/pier-example/incidents/own-3-9';
  const { text } = await world.get(path);
  t.match(text, /<dt>Ongoing for<\/dt><dd><time datetime="[^"]*" data-length title="[^"]*">34 min<\/time>/);
  t.match(text, 'The vendor has reported nothing so far.');
  t.match(text, /<main [^>]*data-live-of="pier-example"/);
  t.match(text, /class="cell bar-down"/);
  const [, main = ''] = text.split('<main');
  t.equal(main.match(/the certificate has expired/g)?.length, 1, 'the first entry is not repeated above');
  world.faults.samples = Object.assign(new Error('away'), { code: 'samples_away' });
  const without = await world.get(path);
  t.equal(without.status, 200, 'without past checks');
  t.notMatch(without.text, 'class="cell');
});
