/** What stands inside sentences. */
import t from 'tap';
import { age, asMarkup, asText, phraseOf, time, timeToSecond } from '../../src/language/phrase.ts';
import { LANGUAGES } from '../../src/web/language/language.ts';

const NOW = Date.UTC(2026, 10, 20, 10, 2);

const MINUTE = 60_000;

const EN = LANGUAGES.en.formats;

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
