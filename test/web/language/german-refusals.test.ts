/** Refusals and notices in each language. */
import t from 'tap';
import { LANGUAGES } from '../../../src/web/language/language.ts';
import { NOTICE_EXAMPLES, REFUSAL_EXAMPLES } from '../../domain/refusal-examples.ts';

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
