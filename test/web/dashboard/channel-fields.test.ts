/** The fields of a channel, and those that a problem names. */
import t from 'tap';
import { dashboard } from '../dashboard-world.ts';

t.test('a problem names the field as the form does, and the line and word of an assertion', async (t) => {
  const { ada, post } = await dashboard(t);
  const problems = async (path: string, fields: Record<string, string>) => {
    const { text } = await post(path, ada, fields);
    return [...text.matchAll(/class="problem"[^>]*>([^<]*)</g)].map(([, said = '']) =>
      said.replaceAll('&quot;', '"').replaceAll('&#39;', "'"),
    );
  };
  const http = { domain: 'a.example.com', kind: 'http' };
  const path = '/dashboard/services/new/save';
  const table: readonly (readonly [lines: string, said: string])[] = [
    ['status is 200\n\ntime over 3', 'Line 3: "over" is not an operator. Use is, is not, below, above.'],
    ['speed is 3', 'Line 1: "speed" is not part of a response. Begin with status, time, header, body, json.'],
    [
      'json status is ok',
      'Line 1: "status" is not followed by the name of a header or a JSON path such as $.status.',
    ],
    ['time below soon', 'Line 1: there is no value that fits at "soon".'],
    ['body exists', 'Line 1: "exists" is not an operator. Use is, is not, contains, lacks, matches.'],
  ];
  for (const [lines, said] of table)
    t.same(await problems(path, { ...http, 'settings.assertions': lines }), [said], lines);
  t.same(await problems(path, { ...http, 'settings.headers': 'Cookie: a=b' }), [
    'Enter a header such as "Accept: text/html"; those with credentials belong to "Headers with credentials".',
  ]);
  t.same(await problems(path, { ...http, 'settings.username': 'ada', 'settings.token': 't' }), [
    'Bearer token cannot be combined with User name.',
  ]);
  t.same(
    await problems('/dashboard/channels/new/gotify/save', {
      name: 'Ops',
      'settings.server': 'x',
      'settings.token': 't',
    }),
    ['Enter an address such as https://example.com/health, without user and password.'],
  );
});
