/**
 * Texts of any characters for properties. `fc.string({ unit: 'binary' })` draws from the same ones, and makes a table of
 * all 1,112,064 of them for it in each process, which takes a second of CPU time.
 */
import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const CODE_POINTS = 0x110000;

/** A character of Unicode, assigned or not; every other one is of the first thousand. */
const character = fc.oneof(fc.nat(1_023), fc.nat(CODE_POINTS - SURROGATES - 1)).map(toText, toNumber);

/** A text of any such characters. Lengths are numbers of characters. */
export function anyText(lengths: fc.StringSharedConstraints = {}): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...lengths });
}

function toText(number: number): string {
  return String.fromCodePoint(number < FIRST_SURROGATE ? number : number + SURROGATES);
}

/** With it fast-check tries names such as `__proto__` too. */
function toNumber(text: unknown): number {
  const point = typeof text === 'string' && [...text].length === 1 ? text.codePointAt(0) : undefined;
  if (point === undefined) throw new Error('it is not one character');
  return point < FIRST_SURROGATE ? point : point - SURROGATES;
}
