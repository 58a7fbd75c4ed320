/** Numbers in paths. */
import type { OpenApiParameter } from '../../http/openapi.ts';
import { HttpError } from '../../http/problem.ts';

/** The number of a key or a webhook in a path. */
export const idParameter = (what: string): OpenApiParameter => ({
  name: 'id',
  in: 'path',
  required: true,
  description: `The number of the ${what}, as the list has it.`,
  schema: { type: 'string' },
  example: '7',
});

/** The things that a number in a path names. */
type NumberedThing = 'key' | 'webhook' | 'channel' | 'rule' | 'message';

/** The number in a path. Throws the error of a number that nothing has, where the text is no number. */
export function readId(text: string | undefined, what: NumberedThing): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text);
  const message = `There is no ${what} ${JSON.stringify(text?.slice(0, 100))}: ids are numbers.`;
  throw new HttpError(`${what}_not_found`, message, {
    errors: [{ field: null, code: `no_${what}`, message }],
  });
}
