/** Formats of settings of checks that are text: what each accepts, and an example for messages. */
import { isExpression, readAssertion } from './assertions.ts';

/** A format. */
interface SettingFormat {
  readonly accepts: (text: string) => boolean;
  readonly example: string;
}

/** Headers that the program sends itself, and those that carry credentials, which are not encrypted here. */
const RESERVED_HEADERS = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'expect'],
  ...['authorization', 'proxy-authorization', 'cookie'],
]);

/** A token (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Formats by the name that a schema gives as `format`. */
export const SETTING_FORMATS = {
  path: { accepts: (text) => /^\/[\x21-\x7e]*$/.test(text), example: 'a path such as /login?lang=en' },
  header: {
    accepts: (text) => {
      const [, name = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\x20-\x7e\t]*$/.exec(text) ?? [];
      return name !== '' && !RESERVED_HEADERS.has(name.toLowerCase());
    },
    example: 'a header such as "Accept: text/html", without credentials',
  },
  token: { accepts: (text) => TOKEN.test(text), example: 'one word such as graphql-ws' },
  expression: { accepts: isExpression, example: 'a short expression of RE2 such as ^pong' },
  assertion: {
    accepts: (text) => readAssertion(text) !== null,
    example: 'an expectation such as "body contains ok"',
  },
} satisfies Readonly<Record<string, SettingFormat>>;
