/** The language of pages: who gets which, and what it says of times. */
import fc from 'fast-check';
import t from 'tap';
import { ahead, asMarkup, asText } from '../../../src/language/phrase.ts';
import { LANGUAGE_CODES } from '../../../src/language/shared-texts.ts';
import { chooseLanguage, LANGUAGES, languageHeaders } from '../../../src/web/language/language.ts';

const NOW = Date.UTC(2026, 10, 20, 10, 2);

const MINUTE = 60_000;

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

t.test('it calls all up only what was all up', async (t) => {
  t.same([1, 0.99999, 0.5, 0].map(EN.percent), ['100%', '99.99%', '50%', '0%']);
  t.same(
    [1, 0.99999].map((ratio) => LANGUAGES.de.formats.percent(ratio).replace(/\s/, ' ')),
    ['100 %', '99,99 %'],
  );
});
