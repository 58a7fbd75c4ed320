/** The forms of values in German. */
import t from 'tap';
import { PATTERN_EXAMPLES } from '../../../src/kinds/check-members.ts';
import { SETTING_FORMATS } from '../../../src/kinds/setting-formats.ts';
import { CHANNEL_KINDS_TABLE } from '../../../src/notify/channels/kinds-table.ts';
import { germanForm } from '../../../src/web/language/german-forms.ts';

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
