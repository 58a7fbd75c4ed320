/** Codes and their texts. */
import t from 'tap';
import { isKnown, type ParamsOf, textOf } from '../../src/domain/coded-text.ts';

const TEXTS = {
  away: 'It is away.',
  late: ({ minutes }: { readonly minutes: number }) => `It is ${minutes} minutes late.`,
};

t.test('a code has a constant text, or one with its parameters', async (t) => {
  const tell = (coded: { readonly code: 'away' | 'late' }) =>
    textOf<ParamsOf<typeof TEXTS>, 'away' | 'late'>(TEXTS, coded as never, 'Who knows.');
  t.equal(tell({ code: 'away' }), 'It is away.');
  t.equal(tell(Object.assign({ code: 'late' as const }, { minutes: 5 })), 'It is 5 minutes late.');
});

t.test('a code that is not known has the other text, whatever it is called', async (t) => {
  for (const code of ['later', 'constructor', '__proto__', 'toString']) {
    t.notOk(isKnown(TEXTS, { code }), code);
    t.equal(
      textOf<ParamsOf<typeof TEXTS>, 'away'>(TEXTS, { code } as never, 'Who knows.'),
      'Who knows.',
      code,
    );
  }
  t.ok(isKnown(TEXTS, { code: 'late' }));
});
