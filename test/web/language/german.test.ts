/** German pages have one word for each thing. */
import t from 'tap';
import { asText, time } from '../../../src/language/phrase.ts';
import { LANGUAGES } from '../../../src/web/language/language.ts';

const NOW = Date.UTC(2026, 10, 20, 10, 2);

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
