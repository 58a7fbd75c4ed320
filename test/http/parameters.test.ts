/** Query parameters: what is read, and what is refused with the allowed values. */
import t from 'tap';
import {
  enumParameter,
  limitParameter,
  OFFSET_PARAMETER,
  readParameters,
  textParameter,
} from '../../src/http/parameters.ts';

const SCHEMAS = {
  limit: limitParameter(50, 200),
  offset: OFFSET_PARAMETER,
  sort: enumParameter(['slug', 'name'], 'Order.', 'slug'),
  status: enumParameter(['up', 'down'], 'Status.'),
  q: textParameter('.*', 'Text.'),
};

t.test('absent parameters have their defaults, and unknown ones are ignored', async (t) => {
  const byDefault = { limit: 50, offset: 0, sort: 'slug', status: undefined, q: undefined };
  t.same(readParameters('', SCHEMAS), byDefault);
  t.same(readParameters('other=1', SCHEMAS), byDefault);
  t.same(readParameters('limit=999&offset=12&sort=name&status=up&q=a+%C3%BC', SCHEMAS), {
    ...{ limit: 200, offset: 12, sort: 'name', status: 'up', q: 'a ü' },
  });
  t.equal(readParameters('offset=99999999999999999999', SCHEMAS).offset, Number.MAX_SAFE_INTEGER);
});

t.test('it refuses by the name of the parameter, and says what is allowed', async (t) => {
  const table: readonly (readonly [string, RegExp, object])[] = [
    ['limit=0', /"limit" is 0, which is too small\. Allowed: 1 to 200/, { parameter: 'limit' }],
    ['limit=-1', /not a whole number/, { parameter: 'limit' }],
    ['limit=1e2', /not a whole number/, { parameter: 'limit' }],
    ['limit=', /not a whole number/, { parameter: 'limit' }],
    ['offset=x', /Allowed: 0 and more/, { parameter: 'offset' }],
    [
      'sort=Slug',
      /which is not known\. Allowed: slug, name/,
      { parameter: 'sort', allowed: ['slug', 'name'] },
    ],
    ['q=a&q=b', /is given 2 times/, { parameter: 'q' }],
    [`status=${'x'.repeat(99)}%0A`, /"x{40}…"/, { parameter: 'status' }],
  ];
  for (const [query, message, more] of table)
    t.throws(
      () => readParameters(query, SCHEMAS),
      { message, ...{ code: 'invalid_parameter', members: more } },
      query,
    );
});
