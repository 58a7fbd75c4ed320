/** What messages say, in both languages, as a person reads it on a phone. */
import t from 'tap';
import { MESSAGE_STATES, type StateCounts } from '../../../src/domain/alert/message.ts';
import { ALERT_EVENTS } from '../../../src/domain/alert/rule.ts';
import { cutText, joinLines } from '../../../src/notify/channels/message-cut.ts';
import { plainLines, renderMessage } from '../../../src/notify/channels/message-text.ts';
import {
  BEGAN_AT,
  HOSTILE_MESSAGE,
  itemOf,
  LONGEST_MESSAGES,
  messageOf,
  SAMPLES,
} from './sample-messages.ts';

/** The first line and the others, as a channel without markup shows them. */
const read = (message: Parameters<typeof renderMessage>[0], language: 'en' | 'de') => {
  const text = renderMessage(message, language);
  return [`${text.tone}: ${text.title}`, ...plainLines(text, language)];
};

t.test(
  'it says in the first line what is down and why, and then what a person woken at night needs',
  async (t) => {
    t.same(read(SAMPLES.alert, 'en'), [
      'bad: Shop is down: it is returning errors (HTTP 503)',
      'Since: 20 Nov 2026, 10:00 UTC',
      'Failed while: waiting for the response',
      'Fails from: eu, us (not everywhere)',
      'Vendor says: Elevated error rates',
      'Last good check: 20 Nov 2026, 09:59 UTC',
      'Rule: Nights',
    ]);
    t.same(read(SAMPLES.alert, 'de'), [
      'bad: Shop ist gestört: der Dienst antwortet mit Fehlern (HTTP 503)',
      'Seit: 20. Nov. 2026, 10:00 UTC',
      'Gescheitert: beim Warten auf die Antwort',
      'Gestört aus: eu, us (nicht überall)',
      'Der Anbieter sagt: Elevated error rates',
      'Letzte gute Prüfung: 20. Nov. 2026, 09:59 UTC',
      'Regel: Nights',
    ]);
    t.same(renderMessage(SAMPLES.alert, 'en').links, [
      { label: 'Open', url: 'https://status.example.org/status/shop-example-org' },
      { label: 'Acknowledge', url: 'https://status.example.org/alerts/acknowledge/1.7-3f9a1c.Zm9v' },
    ]);
  },
);

t.test(
  'it names the first service of a group, what all have in common, and how many more there are',
  async (t) => {
    const lines = read(SAMPLES.group, 'en');
    t.same(lines.slice(0, 6), [
      'bad: 14 services are down',
      'Since: 20 Nov 2026, 10:00 UTC',
      'First: Shop: it is returning errors (HTTP 503)',
      'In common: they all resolve to 198.51.100.7',
      'Rule: Nights',
      // The same reason is not said ten times.
      '• Shop',
    ]);
    t.equal(lines.length, 5 + 10 + 1);
    t.equal(lines.at(-1), 'and 4 more');
    t.equal(read(SAMPLES.group, 'de')[0], 'bad: 14 Dienste sind gestört');
    t.equal(read(SAMPLES.group, 'de')[3], 'Gemeinsam: alle führen zu 198.51.100.7');
  },
);

t.test('it has a first line for each kind of message', async (t) => {
  const firstLines = (language: 'en' | 'de') =>
    Object.fromEntries(Object.entries(SAMPLES).map(([name, message]) => [name, read(message, language)[0]]));
  t.same(firstLines('en'), {
    alert: 'bad: Shop is down: it is returning errors (HTTP 503)',
    group: 'bad: 14 services are down',
    update: 'bad: Shop now fails everywhere',
    reminder: 'bad: Shop is still down: it is returning errors (HTTP 503)',
    recovery: 'good: Shop is up again after 5 min',
    acknowledged: 'info: Ada has acknowledged: Shop is down: it is returning errors (HTTP 503)',
    silent: 'bad: Backup is silent: no heartbeat arrived for 10m',
    slow: 'warning: Shop is slow: it took 4.2 s to answer',
    flapping: 'bad: Shop is flapping: 6 changes within 10 min',
    certificate: 'warning: The certificate of Shop expires within 7 days',
    maintenance: 'info: Maintenance of Shop is planned: Move to new hosts',
    incident: 'warning: Shop: Elevated error rates (identified)',
    test: 'info: Test: alerts arrive here',
    channelFailing: 'warning: The channel "#ops" fails',
    offline: 'bad: The prober is offline',
    online: 'good: The prober is online again',
  });
  t.same(firstLines('de'), {
    alert: 'bad: Shop ist gestört: der Dienst antwortet mit Fehlern (HTTP 503)',
    group: 'bad: 14 Dienste sind gestört',
    update: 'bad: Shop ist jetzt überall gestört',
    reminder: 'bad: Shop ist weiterhin gestört: der Dienst antwortet mit Fehlern (HTTP 503)',
    recovery: 'good: Shop antwortet wieder nach 5 Min.',
    acknowledged: 'info: Ada hat übernommen: Shop ist gestört: der Dienst antwortet mit Fehlern (HTTP 503)',
    silent: 'bad: Backup ist verstummt: seit 10 Min. kam kein Lebenszeichen',
    slow: 'warning: Shop ist langsam: die Antwort brauchte 4,2 s',
    flapping: 'bad: Shop flattert: 6 Wechsel binnen 10 Min.',
    certificate: 'warning: Das Zertifikat von Shop läuft binnen 7 Tagen ab',
    maintenance: 'info: Wartung von Shop geplant: Move to new hosts',
    incident: 'warning: Shop: Elevated error rates (erkannt)',
    test: 'info: Test: Alarme kommen hier an',
    channelFailing: 'warning: Der Kanal „#ops“ versagt',
    offline: 'bad: Die Überwachung ist offline',
    online: 'good: Die Überwachung ist wieder online',
  });
});

t.test('it says when an outage began and ended', async (t) => {
  t.same(read(SAMPLES.recovery, 'en'), [
    'good: Shop is up again after 5 min',
    'Began: 20 Nov 2026, 10:00 UTC',
    'Ended: 20 Nov 2026, 10:05 UTC',
    'Reason: it is returning errors (HTTP 503)',
    'Vendor says: Elevated error rates',
    'Rule: Nights',
  ]);
  const items = [SAMPLES.recovery, SAMPLES.recovery].flatMap(({ items }) => items);
  t.same(read(messageOf({ type: 'recovery', urgency: 'low', items }), 'de').slice(0, 2), [
    'good: 2 Dienste antworten wieder nach 5 Min.',
    'Beginn: 20. Nov. 2026, 10:00 UTC',
  ]);
});

/** The first line about services in these states, in both languages. */
const TITLES: readonly (readonly [counts: StateCounts, english: string, german: string])[] = [
  [{ down: 4, up: 1 }, '4 services are down, 1 is up', '4 Dienste sind gestört, 1 ist in Ordnung'],
  [{ down: 1, slow: 2 }, '1 service is down, 2 are slow', '1 Dienst ist gestört, 2 sind langsam'],
  [
    { down: 1, flapping: 1, certificate: 1 },
    '1 service is down, 1 is flapping, the certificate of 1 expires soon',
    '1 Dienst ist gestört, 1 flattert, Zertifikat läuft bald ab: 1',
  ],
  [
    { flapping: 2, incident: 1 },
    '2 services are flapping, 1 has an incident',
    '2 Dienste flattern, 1 hat einen Vorfall',
  ],
  [{ slow: 3 }, '3 services are slow', '3 Dienste sind langsam'],
  [
    { partial: 2, incident: 3 },
    '2 services fail in some regions, 3 have incidents',
    '2 Dienste sind in einigen Regionen gestört, 3 haben Vorfälle',
  ],
  [
    { up: 2, resolved: 2 },
    '2 services are up, incidents of 2 are resolved',
    '2 Dienste sind in Ordnung, Vorfälle behoben: 2',
  ],
  [
    { fast: 1, resolved: 1 },
    '1 service is fast again, the incident of 1 is resolved',
    '1 Dienst ist wieder schnell, Vorfall behoben: 1',
  ],
  [{ maintenance: 2 }, 'Maintenance of 2 services has begun', 'Wartung hat begonnen: 2 Dienste'],
  [{ ended: 2 }, 'Maintenance of 2 services has ended', 'Wartung hat geendet: 2 Dienste'],
  [
    { certificate: 12 },
    'The certificates of 12 services expire soon',
    'Zertifikate laufen bald ab: 12 Dienste',
  ],
  [
    { up: 1, unwatched: 1 },
    '1 service is up, 1 is no longer checked',
    '1 Dienst ist in Ordnung, 1 wird nicht mehr geprüft',
  ],
];

t.test('it counts the services of a group by what they are like, the worst first', async (t) => {
  const titlesOf = (counts: StateCounts, type: 'update' | 'reminder' | 'recovery' = 'update') =>
    (['en', 'de'] as const).map(
      (language) => renderMessage(messageOf({ type, counts, total: 9 }), language).title,
    );
  t.same(
    TITLES.map(([counts]) => [counts, ...titlesOf(counts)]),
    TITLES,
  );
  for (const [place, one] of MESSAGE_STATES.entries())
    for (const other of MESSAGE_STATES.slice(place + 1))
      for (const type of ['update', 'reminder', 'recovery'] as const)
        for (const title of titlesOf({ [one]: 3, [other]: 4 }, type)) {
          t.match(title, /3 (?:services|Dienste).*\b4\b/, `${one} and ${other}`);
          if (one === 'down')
            t.match(title, /^3 (?:services are (?:still )?down|Dienste sind (?:weiterhin )?gestört)/);
        }
  t.same(titlesOf({ down: 2, incident: 1 }, 'reminder'), [
    '2 services are still down, 1 still has an incident',
    '2 Dienste sind weiterhin gestört, 1 hat weiterhin einen Vorfall',
  ]);
});

t.test('it says that a service is well only where it is', async (t) => {
  const over = { status: 'up', lastedMs: 300_000 } as const;
  const again = itemOf({ ...over, status: 'down', service: { ...itemOf().service, id: 8 } }, 'Search');
  const text = renderMessage(
    messageOf({ type: 'recovery', urgency: 'low', items: [itemOf(over), again] }),
    'en',
  );
  t.match(text, { tone: 'warning', title: '1 service is down, 1 is up again after 5 min' });
  const alone = renderMessage(messageOf({ type: 'recovery', urgency: 'low', items: [again] }), 'en');
  t.equal(alone.title, 'Shop came back after 5 min and is down again');
});

t.test('it says two things about one service in one line', async (t) => {
  const items = [itemOf(), itemOf({ event: 'certificate', certificate: { endsAt: BEGAN_AT, days: 7 } })];
  t.equal(
    renderMessage(messageOf({ items, total: 1 }), 'en').title,
    'Shop is down: it is returning errors (HTTP 503); The certificate of Shop expires within 7 days',
  );
});

t.test('it says of each service of a group what is wrong with it, where that differs', async (t) => {
  const slow = itemOf({ reason: { code: 'slow_response', responseTimeMs: 4_200 } }, 'Search');
  t.same(read(messageOf({ items: [itemOf(), slow] }), 'en').slice(-2), [
    '• Shop: it is returning errors (HTTP 503)',
    '• Search: it took 4.2 s to answer',
  ]);
});

t.test('it has words for the beginning and the end of every event', async (t) => {
  for (const language of ['en', 'de'] as const)
    for (const event of ALERT_EVENTS) {
      const began = renderMessage(messageOf({ items: [itemOf({ event })] }), language);
      const item = itemOf({ event, status: 'up', lastedMs: 60_000 });
      const ended = renderMessage(messageOf({ type: 'recovery', items: [item] }), language);
      t.match(began.title, /Shop/, `${language} ${event}`);
      t.match(ended.title, /Shop/, `${language} ${event}`);
      if (event !== 'up') t.not(began.title, ended.title, `${language} ${event}`);
    }
});

t.test(
  'it says of a service that is not watched any more that it is not, and not that it is well',
  async (t) => {
    const titleOf = (ended: 'paused' | 'removed') =>
      renderMessage(messageOf({ type: 'recovery', items: [itemOf({ ended })] }), 'en').title;
    t.equal(titleOf('paused'), 'Shop is no longer checked: it was paused');
    t.equal(titleOf('removed'), 'Shop is no longer checked: it was removed');
  },
);

t.test('it says how many messages were dropped before it', async (t) => {
  t.equal(
    read({ ...SAMPLES.alert, dropped: 1_200 }, 'en').at(-1),
    'Dropped: 1,200 earlier messages to this channel, because too many waited',
  );
  t.equal(
    read({ ...SAMPLES.test, dropped: 3 }, 'de').at(-2),
    'Verworfen: 3 frühere Nachrichten an diesen Kanal, weil zu viele warteten',
  );
});

t.test(
  'it keeps foreign text on its line, cuts it between characters, and stays within its limits',
  async (t) => {
    for (const message of [HOSTILE_MESSAGE, ...LONGEST_MESSAGES]) {
      const text = renderMessage(message, 'en');
      const all = [text.title, ...text.services.flatMap(({ name, text }) => [name, text])];
      for (const line of [...all, ...plainLines(text, 'en')]) {
        t.notMatch(line, /[\p{Cc}\p{Bidi_Control}\p{Cs}]/u);
        t.ok(line.length <= 700, `${line.length}`);
        t.notMatch(line, /\u200d…/, 'no half of an astronaut');
      }
      t.ok(text.title.length <= 250);
      t.ok(text.services.length <= 10);
    }
  },
);

t.test('it cuts by characters and by whole lines', async (t) => {
  t.equal(cutText('abc', 3), 'abc');
  t.equal(cutText('abcd', 3), 'ab…');
  t.equal(cutText('👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 14), '👩‍👩‍👧‍👦…');
  t.equal(cutText('😀😀', 3), '😀…');
  t.equal(joinLines(['one', 'two', 'three'], 100), 'one\ntwo\nthree');
  t.equal(joinLines(['one', 'two', 'three'], 10), 'one\ntwo\n…');
});
