/** Badges of two texts: no text becomes markup, none makes a badge too wide, and all can be read. */
import fc from 'fast-check';
import t from 'tap';
import { contrastOf } from '../../src/domain/page-colour.ts';
import { SHIELD_STYLES, type ShieldPicture } from '../../src/domain/picture.ts';
import { drawBadge } from '../../src/render/badge.ts';
import { layOutShield } from '../../src/render/shield.ts';
import { anyText } from '../support/any-text.ts';
import { propertyRuns } from '../support/property-runs.ts';

const base: ShieldPicture = {
  ...{ label: 'Status', labelColour: '#555555', message: 'Up', colour: '#66c20a' },
  shield: 'flat',
};
const svg = (change: Partial<ShieldPicture>) => Buffer.from(drawBadge({ ...base, ...change })).toString();

/** The whole grammar of such a badge. */
const GRAMMAR = new RegExp(
  [
    '^<svg xmlns="http://www\\.w3\\.org/2000/svg" width="([0-9]+)" height="(18|20|28)" viewBox="0 0 \\1 \\2" role="img" aria-label="([^"<>]*)">',
    '<title>\\3</title>',
    '(?:<rect(?: x="[0-9]+" y="[0-9]+")? width="[0-9]+" height="\\2" rx="[034]" fill="#[0-9a-f]{6}"/>){1,3}',
    '(?:<path fill="#(?:0{6}|f{6})" d="(?:[mlqz]|-?[0-9]*\\.?[0-9]+| )*"/>)*',
    '</svg>\n$',
  ].join(''),
);

t.test('it writes both texts in each style', async (t) => {
  for (const shield of SHIELD_STYLES) t.equal(GRAMMAR.exec(svg({ shield }))?.[3], 'Status: Up', shield);
  t.equal(GRAMMAR.exec(svg({ label: '' }))?.[3], 'Up');
  const widthOf = (change: Partial<ShieldPicture>) => layOutShield({ ...base, ...change }).width;
  t.ok(widthOf({ label: '' }) < widthOf({}));
  t.equal(widthOf({ shield: 'for-the-badge' }), widthOf({ shield: 'for-the-badge', label: 'STATUS' }));
});

t.test('no text becomes markup, makes it wider than its bound, or hides', async () => {
  const text = fc.oneof(
    anyText({ maxLength: 100 }),
    fc.string({ unit: fc.constantFrom(...'<>&"\'/=! \n\u0000ab]['), maxLength: 100 }),
  );
  const colour = fc.nat(0xffffff).map((number) => `#${number.toString(16).padStart(6, '0')}`);
  fc.assert(
    fc.property(text, text, colour, fc.constantFrom(...SHIELD_STYLES), (label, message, colour, shield) => {
      const picture = { label, message, colour, labelColour: colour, shield };
      const { width, lines } = layOutShield(picture);
      const isReadable = lines.every(
        ({ colour: ink }) =>
          shield === 'social' || contrastOf(`#${ink.toString(16).padStart(6, '0')}`, colour) >= 4.5,
      );
      return GRAMMAR.test(svg(picture)) && width <= 848 && isReadable;
    }),
    { numRuns: propertyRuns(100) },
  );
});
