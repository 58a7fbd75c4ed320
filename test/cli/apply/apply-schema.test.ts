/** The schema of files of `upbeat apply`. */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { applySchema, SCHEMA_FILE } from '../../../src/cli/apply/apply-schema.ts';
import { DOCUMENT, everything } from './apply-world.ts';

t.setTimeout(300_000);

t.test('its schema is published, and accepts what it reads', async (t) => {
  t.same(
    JSON.parse(readFileSync(SCHEMA_FILE, 'utf8')),
    JSON.parse(applySchema()),
    'npm run schema writes it',
  );
  const validate = new Ajv({ strict: false }).compile(JSON.parse(applySchema()));
  const isValid = (text: string) => validate(parse(text));
  t.ok(isValid(DOCUMENT), JSON.stringify(validate.errors));
  t.ok(isValid(stringify(everything())), JSON.stringify(validate.errors));
  t.ok(isValid(stringify({ pages: [{ slug: 'a', title: 'A', access: 'password', password: null }] })));
  for (const [value, accepted] of [
    ['null', true],
    ['7', false],
  ] as const)
    t.equal(isValid(`channels: [{ name: A, kind: ntfy, settings: { topic: ${value} } }]`), accepted, value);
  for (const [from, to] of [
    ['domain: shop', 'domian: shop'],
    ['kind: http', 'kind: htp'],
    ['path: /health', 'paht: /health'],
    ['pages:', 'page:'],
  ] as const)
    t.notOk(isValid(DOCUMENT.replace(from, to)), to);
});
