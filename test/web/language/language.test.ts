/** The language of pages: who gets which, that none lacks a word, and what stands inside sentences. */
import fc from 'fast-check';
import t from 'tap';
import {
  describeCause,
  FAILURE_CLASSES,
  type Failure,
  type FailureCause,
} from '../../../src/domain/failure.ts';
import type { Incident, IncidentNote, StatusReason } from '../../../src/domain/incident/incident.ts';
import { endVanished } from '../../../src/domain/incident/vendor-incident.ts';
import { stepOwnIncident } from '../../../src/domain/own-incident.ts';
import { PATTERN_EXAMPLES } from '../../../src/kinds/check-members.ts';
import { SETTING_FORMATS } from '../../../src/kinds/setting-formats.ts';
import { createFormats } from '../../../src/language/formats.ts';
import { germanFailure } from '../../../src/language/german-failures.ts';
import {
  age,
  ahead,
  asMarkup,
  asText,
  escapeMarkup,
  phraseOf,
  time,
  timeToSecond,
} from '../../../src/language/phrase.ts';
import { LANGUAGE_CODES } from '../../../src/language/shared-texts.ts';
import { CHANNEL_KINDS_TABLE } from '../../../src/notify/channels/kinds-table.ts';
import { germanForm } from '../../../src/web/language/german-forms.ts';
import { chooseLanguage, LANGUAGES, languageHeaders } from '../../../src/web/language/language.ts';
import { inLanguage } from '../../../src/web/parts/incidents.ts';
import { FAILURE_CAUSES } from '../../domain/failure-causes.ts';
import { NOTICE_EXAMPLES, REFUSAL_EXAMPLES } from '../../domain/refusal-examples.ts';
import { check, current, service } from '../../site/site-world.ts';

const NOW = Date.UTC(2026, 10, 20, 10, 2);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const EN = LANGUAGES.en.formats;

t.test('it speaks the language that is asked for, then the kept one, then the preferred one', async (t) => {
  const table: readonly [query: string, cookie: string, accept: string, code: string][] = [
    ['', '', '', 'en'],
    ['', '', 'de', 'de'],
    ['', '', 'de-AT,en;q=0.9', 'de'],
    ['', '', 'fr,en;q=0.4,de;q=0.5', 'de'],
    ['', '', 'en,de', 'en'],
    ['', '', 'de,en', 'de'],
    ['', '', 'de;q=0,en;q=0.1', 'en'],
    ['', '', 'de;q=2', 'en'],
    ['', '', 'fr, *;q=0.5', 'en'],
    ['', '', 'DE', 'de'],
    ['', 'upbeat-language=de', 'en', 'de'],
    ['', 'upbeat=x; upbeat-language=de', '', 'de'],
    ['', 'upbeat-language=klingon', 'de', 'de'],
    ['lang=en', 'upbeat-language=de', 'de', 'en'],
    ['q=x&lang=de', '', 'en', 'de'],
    ['lang=klingon', '', 'de', 'de'],
    ['lang=constructor', 'upbeat-language=toString', '__proto__,valueOf', 'en'],
  ];
  for (const [query, cookie, accept, code] of table)
    t.equal(
      chooseLanguage({ query, headers: { cookie, 'accept-language': accept } }).code,
      code,
      `${query} | ${cookie} | ${accept}`,
    );
});

t.test('it keeps a choice for a year, and tells caches what the answer depends on', async (t) => {
  const vary = { Vary: 'Accept-Language, Cookie', 'Content-Language': 'de' };
  t.same(languageHeaders(chooseLanguage({ query: '', headers: { 'accept-language': 'de' } })), vary);
  t.same(languageHeaders(chooseLanguage({ query: 'lang=de', headers: {} })), {
    ...vary,
    'Set-Cookie': 'upbeat-language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax',
  });
});

t.test('it offers this very page in each language', async (t) => {
  const { choices } = chooseLanguage({ query: 'q=a%26b&lang=en', headers: {} });
  t.same(choices, [
    { code: 'en', name: 'English', href: '?q=a%26b&lang=en' },
    { code: 'de', name: 'Deutsch', href: '?q=a%26b&lang=de' },
  ]);
});

t.test('it reads any header without a fault', async () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (query, cookie, accept) =>
      LANGUAGE_CODES.includes(chooseLanguage({ query, headers: { cookie, 'accept-language': accept } }).code),
    ),
  );
});

t.test('it has the same keys in every language, and no empty word', async (t) => {
  const english = keysOf(LANGUAGES.en.texts);
  for (const code of LANGUAGE_CODES) t.same(keysOf(LANGUAGES[code].texts), english, code);
});

t.test('German pages have one word for each thing, and dates in sentences', async (t) => {
  const { texts } = LANGUAGES.de;
  const fixed: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') fixed.push(value);
    else if (typeof value === 'object' && value !== null)
      for (const one of Object.values(value)) collect(one);
  };
  collect(texts);
  // The pages of accounts are called Verwaltung, uptime Erreichbarkeit, and heartbeats Lebenszeichen.
  t.same(
    fixed.filter((text) => /Dashboard|Verfügbarkeit|Heartbeat/.test(text)),
    [],
  );
  const at = time(Date.UTC(2026, 10, 21, 10));
  const said = [
    texts.members.expiresAt(at),
    texts.dashboard.expiresAt(at),
    texts.pageEditor.about('acme', 2, at),
  ].map((phrase) => asText(phrase, LANGUAGES.de.formats, NOW));
  t.same(said, [
    'läuft am 21. Nov. 2026, 10:00 UTC ab',
    'läuft am 21. Nov. 2026, 10:00 UTC ab',
    '/p/acme, 2 Dienste, geändert am 21. Nov. 2026, 10:00 UTC',
  ]);
});

t.test('it escapes what stands in a sentence, and makes times readable by programs', async (t) => {
  const phrase = phraseOf`since ${time(NOW - 2 * MINUTE)}: ${'<b>&"\''} ${phraseOf`(${age(NOW - 5 * MINUTE)})`} ${3}`;
  const ago = EN.ago(NOW - 5 * MINUTE, NOW);
  t.equal(ago, '5 minutes ago');
  t.equal(
    asMarkup(phrase, EN, NOW),
    [
      'since <time datetime="2026-11-20T10:00:00.000Z">20 Nov 2026, 10:00 UTC</time>: &lt;b&gt;&amp;&quot;&#39; ',
      `(<time datetime="2026-11-20T09:57:00.000Z" data-age title="20 Nov 2026, 09:57 UTC">${ago}</time>) 3`,
    ].join(''),
  );
  t.equal(asText(phrase, EN, NOW), `since 20 Nov 2026, 10:00 UTC: <b>&"' (${ago}) 3`);
  t.equal(
    asMarkup([timeToSecond(NOW)], EN, NOW),
    '<time datetime="2026-11-20T10:02:00.000Z" data-second>20 Nov 2026, 10:02:00 UTC</time>',
  );
});

t.test('it says what is ahead to the nearest unit, and never in the past', async (t) => {
  const table = [
    [-MINUTE, 'in 0 seconds'],
    [30_000, 'in 30 seconds'],
    [5 * MINUTE - 1_000, 'in 5 minutes'],
    [300 * MINUTE - 1, 'in 5 hours'],
    [3 * 1_440 * MINUTE, 'in 3 days'],
  ] as const;
  for (const [ms, text] of table) t.equal(asText([ahead(NOW + ms)], EN, NOW), text);
  t.match(
    asMarkup([ahead(NOW + MINUTE)], EN, NOW),
    / data-ahead title="20 Nov 2026, 10:03 UTC">in 1 minute</,
  );
});

t.test('it says every cause of a failure in each language', async (t) => {
  const causes = Object.values(FAILURE_CAUSES);
  for (const cause of causes) {
    const failure = { class: 'body', phase: 'body', cause } as const;
    t.notMatch(
      germanFailure(failure),
      /\b(?:the|is|has|of|not|than|answer|body|reports|undefined)\b/,
      describeCause(failure),
    );
  }
  t.same(new Set(causes.map((cause) => germanFailure({ class: 'body', cause }))).size, causes.length);
  const recorded = (kind: 'body' | 'tls', text: string) =>
    germanFailure({ class: kind, cause: { code: 'text', text } });
  t.equal(recorded('body', 'degraded'), 'der Dienst meldet sich nicht als gesund (degraded)');
  t.equal(recorded('tls', ''), 'der Dienst ist nicht sicher erreichbar');
});

t.test('it says time limits in seconds, and a failure once', async (t) => {
  const failure = (kind: 'timeout' | 'status' | 'body' | 'dns', cause: FailureCause): Failure => ({
    class: kind,
    phase: 'first_byte',
    cause,
  });
  const timeout = (timeoutMs: number) =>
    failure('timeout', { code: 'timeout', phase: 'first_byte', timeoutMs });
  const table: readonly [Failure, english: string, german: string][] = [
    [timeout(10_000), 'no answer within 10 s', 'keine Antwort binnen 10 s'],
    [timeout(2_500), 'no answer within 2.5 s', 'keine Antwort binnen 2,5 s'],
    [timeout(250), 'no answer within 250 ms', 'keine Antwort binnen 250 ms'],
    [
      failure('status', { code: 'status', statusCode: 503 }),
      'answered with status 503',
      'Antwort mit Status 503',
    ],
    [
      failure('dns', { code: 'text', text: '' }),
      'it does not resolve in DNS',
      'der Dienst lässt sich im DNS nicht auflösen',
    ],
    [
      failure('body', { code: 'text', text: 'degraded' }),
      'it does not report that it is healthy (degraded)',
      'der Dienst meldet sich nicht als gesund (degraded)',
    ],
    [
      failure('body', { code: 'reported_down', word: 'on fire' }),
      'it reports "on fire"',
      'der Dienst meldet „on fire“',
    ],
    [
      failure('body', { code: 'reported_unknown', word: 'on fire' }),
      'it reports an unknown status "on fire"',
      'der Dienst meldet einen unbekannten Status „on fire“',
    ],
  ];
  for (const [one, english, german] of table)
    t.same(
      [LANGUAGES.en, LANGUAGES.de].map(({ texts }) => texts.page.failure(one)),
      [english, german],
    );
  t.equal(LANGUAGES.en.texts.service.failure(timeout(10_000)), 'no answer within 10 s');
});

t.test('it describes own incidents in each language, in every sentence that the record writes', async (t) => {
  const failed = (failure: Failure) => ({ code: 'check_failed', failure }) as const;
  const status = failed({ class: 'status', phase: 'body', cause: { code: 'status', statusCode: 503 } });
  const reasons: readonly (StatusReason | null)[] = [
    null,
    status,
    ...FAILURE_CLASSES.map((kind) =>
      failed({ class: kind, phase: 'dns', cause: { code: 'text', text: '' } }),
    ),
    { code: 'reported_down' },
    { code: 'reported_slow' },
    { code: 'run_failed' },
    { code: 'slow_response', responseTimeMs: 4_200 },
    { code: 'reported_response_time', responseTimeMs: 3_400 },
    { code: 'no_heartbeat', silenceMs: 630_000 },
    { code: 'run_missed', runAt: NOW },
  ];
  const { en, de } = LANGUAGES;
  const shown = new Set<string>();
  for (const reason of reasons)
    for (const source of ['root', 'heartbeat', 'silence'] as const)
      for (const kind of [null, ...FAILURE_CLASSES]) {
        let open: Incident | null = null;
        let seq = 0;
        for (const status of ['down', 'up', 'down', 'slow', 'slow', 'slow'] as const) {
          const failure: Failure | null =
            kind === null ? null : { class: kind, phase: 'dns', cause: { code: 'text', text: '' } };
          const latest = check(NOW, { status, source, failure });
          open =
            stepOwnIncident(open, {
              service: service(1, 'shop', { name: 'Shop & Co' }),
              current: current(1, latest, { seq: ++seq }),
              changed: true,
              reason: status === 'up' ? null : reason,
              sourceUrl: '',
              inMaintenance: false,
            }) ?? open;
        }
        if (open === null) throw new Error('no incident was opened');
        // As the registry keeps it.
        const kept: Incident = JSON.parse(JSON.stringify(open));
        t.same(inLanguage(kept, en), kept, 'its English is that of the API');
        const { title, description, updates } = inLanguage(kept, de);
        t.equal(description, updates[0]?.text);
        for (const text of [title, ...updates.map((update) => update.text)]) shown.add(text);
      }
  t.ok(shown.size > 40, `${shown.size} were written`);
  for (const text of shown)
    t.notMatch(text, / (?:is|it|its|has|fail|again|answers|answered|reports|cannot|no|of|for)\b/, text);
  const note = (one: IncidentNote) => de.texts.service.incidentNote(one);
  t.equal(
    note({ code: 'failing_again', domain: 'pier.example', isReported: false, reason: status }),
    'pier.example ist wieder gestört: der Dienst antwortet mit Fehlern (HTTP 503).',
  );
  t.equal(
    note({
      code: 'recovering',
      domain: 'pier.example',
      reason: { code: 'slow_response', responseTimeMs: 4_200 },
    }),
    'pier.example antwortet wieder, wenn auch langsam: die Antwort brauchte 4,2 s. Wir beobachten es.',
  );
  t.match(
    note({
      code: 'opened',
      name: 'Shop',
      outage: 'silent',
      domain: 'shop.example',
      isReported: true,
      reason: { code: 'no_heartbeat', silenceMs: 5_400_000 },
    }),
    /^shop\.example ist gestört: seit 1 Std\. 30 Min\. kam kein Lebenszeichen\.$/,
  );
});

t.test('it shows texts of vendors and of earlier versions as they are', async (t) => {
  const text = 'Our checks of shop.example fail: it answered with an error.';
  const recorded: Incident = {
    id: 'own-1-1',
    serviceId: 1,
    source: 'own',
    title: 'Shop answers with errors',
    description: text,
    severity: 'major',
    status: 'monitoring',
    startedAt: NOW,
    resolvedAt: null,
    sourceUrl: '',
    goodChecks: 1,
    updates: [
      { at: NOW, status: 'investigating', text },
      {
        at: NOW + MINUTE,
        status: 'monitoring',
        text: 'shop.example answers again. We watch it.',
        note: { code: 'recovering', domain: 'shop.example', reason: null },
      },
    ],
  };
  const { title, description, updates } = inLanguage(recorded, LANGUAGES.de);
  t.same(
    [title, description, ...updates.map((update) => update.text)],
    [recorded.title, text, text, 'shop.example antwortet wieder. Wir beobachten es.'],
  );
  const vendor = {
    ...recorded,
    source: 'vendor',
    updates: [{ at: NOW, status: 'investigating', text }],
  } as const;
  t.same(inLanguage(vendor, LANGUAGES.de), vendor);
  t.same(
    inLanguage(endVanished(vendor, NOW + MINUTE), LANGUAGES.de).updates.map((update) => update.text),
    [text, 'Die Statusseite führt es nicht mehr auf.'],
    'what we write of it is in the language of the page',
  );
});

t.test('it says every refusal and every notice in each language', async (t) => {
  const isGerman = (text: string) =>
    t.notMatch(text, /\b(?:the|is|has|this|one|first|must|send|now|your|undefined)\b/, text);
  const { en, de } = LANGUAGES;
  for (const [refusal, english] of REFUSAL_EXAMPLES) {
    t.equal(en.texts.dashboard.refusal(refusal), english);
    isGerman(de.texts.dashboard.refusal(refusal));
  }
  for (const [notice, english] of NOTICE_EXAMPLES) {
    t.equal(en.texts.dashboard.notice(notice), english);
    isGerman(de.texts.dashboard.notice(notice));
  }
  const shown = REFUSAL_EXAMPLES.map(([refusal]) => de.texts.dashboard.refusal(refusal));
  t.equal(new Set(shown).size, shown.length);
  t.ok(
    shown.includes(
      'Die Domain ist nicht bestätigt: ein TXT-Eintrag fehlt bei _upbeat.a.example, und bei https://a.example/w: die Verbindung wurde abgewiesen.',
    ),
  );
});

t.test('it says in German which form a value needs', async (t) => {
  const ofChannels = Object.values(CHANNEL_KINDS_TABLE).flatMap(({ settings, refuse }) => {
    const wrong = Object.fromEntries(Object.keys(settings.properties).map((name) => [name, '\n']));
    return (refuse?.(wrong) ?? []).flatMap(({ problem }) =>
      problem.code === 'format' ? [problem.example] : [],
    );
  });
  t.ok(ofChannels.length > 20);
  const ofChecks = Object.values(SETTING_FORMATS).map(({ example }) => example);
  for (const form of [...ofChannels, ...ofChecks, ...PATTERN_EXAMPLES.values()])
    t.notMatch(germanForm(form), /\b(?:a|an|and|or|of|without|such as)\b/, form);
  t.equal(germanForm('a token such as tk_…'), 'einen Wert wie tk_…');
  t.equal(germanForm('a token without spaces'), 'ein Token ohne Leerzeichen');
});

t.test('it has a sentence for a code that this version does not know', async (t) => {
  const later = JSON.parse('{"code":"later","class":"body","phase":"body","cause":{"code":"later"}}');
  const opened = {
    code: 'opened',
    domain: 'a.example',
    name: 'A',
    outage: 'errors',
    isReported: true,
  } as const;
  const said = Object.values(LANGUAGES).map(({ texts: { dashboard, service } }) => [
    dashboard.refusal(later),
    dashboard.refusal({ code: 'name_invalid', problem: later }),
    dashboard.deliveryProblem(later),
    service.failure(later),
    service.incidentNote({ ...opened, reason: later }),
  ]);
  t.strictSame(said, [
    [
      'The request is refused.',
      'The name is not allowed.',
      'the delivery failed',
      'for an unknown reason',
      'a.example is down: no reason is known.',
    ],
    [
      'Die Anfrage wird abgelehnt.',
      'Der Name ist nicht erlaubt.',
      'die Zustellung ist gescheitert',
      'aus einem unbekannten Grund',
      'a.example ist gestört: ein Grund ist nicht bekannt.',
    ],
  ]);
});

t.test('it lets no markup through, whatever the text', async () => {
  fc.assert(
    fc.property(fc.string(), (text) => !/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/.test(escapeMarkup(text))),
  );
});

t.test('it writes lengths in their two largest units, rounded down', async (t) => {
  const { length } = createFormats('en-GB', 'en');
  const table: readonly [number, string][] = [
    [-5, '0 s'],
    [59_999, '59 s'],
    [MINUTE, '1 min'],
    [59 * MINUTE + 59_000, '59 min'],
    [HOUR, '1 hr'],
    [2 * HOUR + 5 * MINUTE, '2 hr 5 min'],
    [48 * HOUR - 1, '47 hr 59 min'],
    [48 * HOUR, '2 days'],
  ];
  for (const [ms, said] of table) t.equal(length(ms), said);
});

t.test('it calls all up only what was all up', async (t) => {
  t.same([1, 0.99999, 0.5, 0].map(EN.percent), ['100%', '99.99%', '50%', '0%']);
  t.same(
    [1, 0.99999].map((ratio) => LANGUAGES.de.formats.percent(ratio).replace(/\s/, ' ')),
    ['100 %', '99,99 %'],
  );
});

/** Every path to a word, sorted; a word that is empty stands out by its path. */
function keysOf(words: object, path = ''): string[] {
  return Object.entries(words)
    .flatMap(([key, value]) =>
      typeof value === 'object' && value !== null
        ? keysOf(value, `${path}${key}.`)
        : [`${path}${key}: ${value === '' ? 'empty' : typeof value}`],
    )
    .sort();
}
