/** What the services of the tests check: shapes by JSON Schemas without other members, and markup. */
import { Ajv, type ValidateFunction } from 'ajv';

const ajv = new Ajv({ allErrors: false, strict: false });
ajv.addFormat('url', (text: string) => URL.canParse(text) && /^https?:/.test(text));
ajv.addFormat('time', (text: string) => !Number.isNaN(Date.parse(text)));
const validators = new Map<object, ValidateFunction>();

/** What is wrong with the shape of a value; null: nothing. */
export function wrongShape(schema: object, value: unknown): string | null {
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  if (validate(value)) return null;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath ?? ''} ${error?.message ?? ''} ${JSON.stringify(error?.params ?? {})}`;
}

/** An object without other members. A name with `?` at its end may be absent. */
export function shape(members: Readonly<Record<string, object>>): object {
  const names = Object.keys(members);
  return {
    type: 'object',
    additionalProperties: false,
    required: names.filter((name) => !name.endsWith('?')),
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), members[name]])),
  };
}

/** Text of 1 to `max` characters. */
export const text = (max: number, more: object = {}) => ({
  type: 'string',
  minLength: 1,
  maxLength: max,
  ...more,
});
/** A URL. */
export const url = (max = 3_000) => ({ type: 'string', format: 'url', maxLength: max });
/** A list. */
export const list = (items: object, max: number) => ({ type: 'array', items, minItems: 1, maxItems: max });
/** One of some values. */
export const oneOf = (...values: readonly unknown[]) => ({ enum: values });

/** The text of HTML with the tags `allowed`, entities decoded; null: it cannot be parsed. */
export function readHtml(html: string, allowed: readonly string[]): string | null {
  const open: string[] = [];
  let isBroken = false;
  const rest = html.replace(
    /<(\/?)([a-z]+)((?: href="[^"<>]*")?)>/g,
    (_, slash: string, tag: string, href: string) => {
      if (!allowed.includes(tag) || (href !== '' && tag !== 'a')) isBroken = true;
      if (tag === 'br') return '\n';
      if (slash === '') open.push(tag);
      else if (open.pop() !== tag) isBroken = true;
      return '';
    },
  );
  if (isBroken || open.length > 0 || /[<>]/.test(rest)) return null;
  if (/&(?!(?:amp|lt|gt|quot|#\d{1,5});)/.test(rest)) return null;
  return rest.replace(
    /&(amp|lt|gt|quot|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? "'",
  );
}

/** What stands in `<…>` in a text of Slack that is neither a link to the web nor a time; null: nothing. */
export function findSlackCommand(mrkdwn: string): string | null {
  const tokens = [...mrkdwn.matchAll(/<([^>]*)>?/g)].map(([, token = '']) => token);
  const isHarmless = (token: string) =>
    /^https?:\/\/[^|<>\s]+\|[^|<>]+$/.test(token) || /^!date\^\d+\^(?:\{\w+\} ?)+\|[^|<>]+$/.test(token);
  return tokens.find((token) => !isHarmless(token)) ?? null;
}

/** A mention of many in Markdown that a backslash or a space of no width does not break; null: there is none. */
export function findMention(markdown: string): string | null {
  return /(?<!\\)@(?:all|channel|here|everyone)\b/.exec(markdown)?.[0] ?? null;
}
