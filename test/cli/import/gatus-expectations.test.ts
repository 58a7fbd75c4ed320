/** Statuses that conditions of Gatus accept. */
import t from 'tap';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { STATUS_CLASSES } from '../../../src/domain/service.ts';

const gatus = (...endpoints: readonly object[]) => readImport(JSON.stringify({ endpoints }), 'gatus.json');

t.test('conditions of Gatus become accepted statuses', async (t) => {
  const rows: readonly (readonly [conditions: readonly string[], accept: readonly unknown[]])[] = [
    [['[STATUS] < 300'], ['1xx', '2xx']],
    [['300 > [STATUS]'], ['1xx', '2xx']],
    [['[STATUS] == pat(2*)'], ['2xx']],
    [
      ['[STATUS] == pat(20?)', '[STATUS] <= 201'],
      [200, 201],
    ],
    [['[STATUS] != pat(5*)'], ['1xx', '2xx', '3xx', '4xx', '6xx', '7xx', '8xx', '9xx']],
    [['[STATUS] == any(200, 429)'], [200, 429]],
    [['[STATUS] == any(200, 999)'], [200, 999]],
    [['[STATUS] == 999'], [999]],
    [
      ['[STATUS] != any(500,502)', '[STATUS] >= 500', '[STATUS] < 504'],
      [501, 503],
    ],
  ];
  for (const [conditions, accept] of rows)
    t.match(gatus({ name: 'A', url: 'https://a.example/', conditions }), {
      services: [{ accept }],
      notCarried: [],
    });
});

t.test('a status of Gatus that must not come leaves a check with few rules', async (t) => {
  const { services, notCarried } = gatus({
    ...{ name: 'A', url: 'https://a.example/', conditions: ['[STATUS] != 404', '[STATUS] != 500'] },
  });
  t.match(services, [
    {
      kind: 'http',
      accept: STATUS_CLASSES,
      settings: { assertions: ['status is not 404', 'status is not 500'] },
    },
  ]);
  t.same(notCarried, []);
});

t.test('conditions of Gatus become expectations', async (t) => {
  const rows: readonly (readonly [condition: string, lines: string | readonly string[] | null])[] = [
    ['[RESPONSE_TIME] <= 250', 'time below 251'],
    ['[RESPONSE_TIME] < 1.5s', 'time below 1500'],
    ['300ms > [RESPONSE_TIME]', 'time below 300'],
    ['[RESPONSE_TIME] > 5', 'time above 5'],
    ['[RESPONSE_TIME] >= 5', 'time above 4'],
    ['[BODY] == ok', 'body is ok'],
    ['ok == [BODY]', 'body is ok'],
    ['[BODY] == ', 'body matches ^\\s*$'],
    ['[BODY] == pat(*<h1>Welcome*)', 'body contains <h1>Welcome'],
    ['pat(*<h1>*) == [body]', 'body contains <h1>'],
    ['[BODY] != pat(*error*)', 'body lacks error'],
    ['[BODY] == pat(a.b*c)', 'body matches (?s)^\\s*a\\.b.*c\\s*$'],
    ['[BODY] == pat(a?[0-9]*)', 'body matches (?s)^\\s*a.[0-9]'],
    ['[BODY] == pat(*\\*done)', 'body matches (?s)\\*done\\s*$'],
    ['[BODY] == pat(*)', []],
    ['[BODY] == any(ok, fine)', 'body matches ^\\s*(?:ok|fine)\\s*$'],
    ['[BODY] != any(bad, worse)', ['body is not bad', 'body is not worse']],
    ['[BODY].status == UP', 'json $.status is UP'],
    ['UP == [BODY].status', 'json $.status is UP'],
    ['[BODY].status == "all good"', 'json $.status is all good'],
    ['[BODY].status == true', 'json $.status is true'],
    ['[BODY].status == ""', 'json $.status matches ^$'],
    ['[BODY].data[0].name != x', 'json $.data[0].name is not x'],
    ['[BODY][0].id == 1', 'json $[0].id is 1'],
    ['[BODY].a-b == 1', "json $['a-b'] is 1"],
    ['[BODY].größe == 1', "json $['größe'] is 1"],
    ['[BODY].n < 5', 'json $.n below 5'],
    ['5 > [BODY].n', 'json $.n below 5'],
    ['[BODY].n <= 5', 'json $.n below 6'],
    ['[BODY].n >= 5', 'json $.n above 4.999999'],
    ['[BODY].n > 0.5', 'json $.n above 0.5'],
    ['[BODY] > 3', 'json $ above 3'],
    ['[BODY].name == pat(john*)', 'json $.name matches (?s)^john'],
    ['[BODY].name != pat(*x*)', 'json $.name lacks x'],
    ['[BODY].status == any(UP, DEGRADED)', 'json $.status matches ^(?:UP|DEGRADED)$'],
    ['has([BODY].id) == true', 'json $.id exists'],
    ['has([BODY].id) != false', 'json $.id exists'],
    ['has([BODY].errors) == false', 'json $.errors missing'],
    ['has([BODY].errors) != true', 'json $.errors missing'],
    ['has([BODY]) == true', 'body matches \\S'],
    ['len([BODY].items) > 0', 'json $.items matches ^(?:\\[[^\\]]|[^\\[])'],
    ['len([BODY]) > 0', 'body matches ^\\s*(?:\\[\\s*[^\\]\\s]|[^\\[\\s])'],
    ['len([BODY].errors) == 0', 'json $.errors matches ^(?:\\[\\])?$'],
    ['[CONNECTED] == true', []],
    ['[CONNECTED] != false', []],
    ['[BODY].age == [BODY].id', null],
    ['[BODY].name != pat(john*)', null],
    ['len([BODY].name) == 8', null],
    ['[BODY].n < many', null],
    ['[DOMAIN_EXPIRATION] < 720h', null],
    ['[CERTIFICATE_EXPIRATION] != 0', null],
    ['[IP] == pat(10.*)', null],
    ['[CONTEXT].id == 1', null],
    ['nonsense', null],
  ];
  for (const [condition, given] of rows) {
    const endpoint = { name: 'A', url: 'https://a.example/', conditions: ['[BODY] != x', condition] };
    const { services, notCarried } = gatus(endpoint);
    const lines = typeof given === 'string' ? [given] : given;
    t.same(services[0]?.settings?.assertions, ['body is not x', ...(lines ?? [])], condition);
    t.equal(notCarried.length, lines === null ? 1 : 0, condition);
    if (lines === null) t.ok(notCarried[0]?.reason.startsWith(JSON.stringify(condition)), condition);
  }
});
