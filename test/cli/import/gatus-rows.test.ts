/** Texts, merge keys and variables of the files of Gatus. */
import t from 'tap';
import { PLAIN_SERVICE } from '../../../src/cli/import/listed-service.ts';
import { readImport, readImportFile } from '../../../src/cli/import/read-import.ts';

/** A service without an interval of its own there. */
const EVERY_MINUTE = { ...PLAIN_SERVICE, choice: { intervalMs: 60_000 } };

t.test("texts of Gatus' files are as they stand there, whatever they look like", async (t) => {
  const headers = {
    'X-Mode': '0644',
    'X-Version': '1.10',
    'X-Octal': '0o17',
    'X-On': 'yes',
    'X-Is': 'True',
    'X-Hex': '0x1F',
  };
  const lines = [...Object.entries(headers), ['X-None', '~'], ['X-Quoted', '"1.0"']].map((line) =>
    line.join(': '),
  );
  const body = '012345678901234567890';
  for (const text of [
    `x-h: &h { X-Mode: 0644 }\nendpoints:\n- name: 2.10\n  url: https://a.example/\n  method: POST\n  body: ${body}\n  conditions: ["[STATUS] == 200"]\n  headers:\n    <<: *h\n    ${lines.slice(1).join('\n    ')}\n`,
    `{"endpoints":[{"name":2.10,"url":"https://a.example/","method":"POST","body":${body},"headers":{${Object.entries(
      headers,
    )
      .map(([name, value]) => `"${name}":${value}`)
      .join()},"X-None":null,"X-Quoted":"1.0"}}]}`.replace('"X-Mode":0644', '"X-Mode":"0644"'),
  ]) {
    const { services } = readImport(text, 'gatus.yaml');
    t.match(services, [{ name: '2.10', secrets: { body } }], text);
    const wanted = [...Object.entries(headers), ['X-None', ''], ['X-Quoted', '1.0']].map((line) =>
      line.join(': '),
    );
    t.same(new Set(Object(services[0]?.settings).headers), new Set(wanted));
  }
});

t.test("it reads merge keys, aliases and the booleans of Gatus' files as Gatus does", async (t) => {
  const { services, notCarried } = readImport(
    `defaults: &defaults
  interval: 15m
  enabled: yes
  conditions: ["[STATUS] == 204"]
client: &client { insecure: no, ignore-redirect: on, timeout: 1m30s }
endpoints:
  - name: One
    <<: *defaults
    url: https://one.lab.example/
  - name: Two
    !!merge <<: [{ enabled: n }, *defaults]
    url: https://two.lab.example/ping
    client: *client
    conditions: ["[STATUS] == 200"]
external-endpoints:
  - { <<: *defaults, name: cron.lab.example, enabled: Off }
`,
    'gatus.yaml',
  );
  t.same(services, [
    {
      ...EVERY_MINUTE,
      ...{ domain: 'one.lab.example', name: 'One', accept: [204] },
      choice: { intervalMs: 900_000 },
    },
    {
      ...EVERY_MINUTE,
      ...{ domain: 'two.lab.example', name: 'Two', accept: [200], paused: true },
      ...{ url: 'https://two.lab.example/ping', settings: { followRedirects: false } },
      choice: { intervalMs: 900_000, timeoutMs: 90_000 },
    },
    {
      ...PLAIN_SERVICE,
      ...{
        domain: 'cron.lab.example',
        name: 'cron.lab.example',
        kind: 'heartbeat',
        paused: true,
        periodMs: 365 * 86_400_000,
      },
    },
  ]);
  t.match(notCarried, [{ entry: 'cron.lab.example', field: 'heartbeat' }]);
});

t.test('variables of Gatus are those of the environment', async (t) => {
  const text = `endpoints:
  - { name: One, url: "https://\${HOST}/$PATH_1", headers: { X-Price: "5$$ a piece" }, conditions: ["[STATUS] == 200"] }
  - { name: Two, url: "https://b.example/\${NOWHERE}", conditions: ["[STATUS] == 200"] }
  - { name: Three, url: "https://b.example/\${NOWHERE:-x}", conditions: ["[STATUS] == 200"] }
`;
  const { services, skipped } = readImport(text, 'gatus.yaml', 0, { HOST: 'a.example', PATH_1: 'x' });
  t.match(services, [{ domain: 'a.example', settings: { path: '/x', headers: ['X-Price: 5$ a piece'] } }]);
  t.equal(services.length, 1);
  t.same(skipped, [
    { entry: 'Two', reason: 'it needs the environment variable NOWHERE, which is not set' },
    { entry: 'Three', reason: 'it needs the environment variable NOWHERE:-x, which is not set' },
  ]);
});

t.test('the YAML files of a folder are one configuration of Gatus', async (t) => {
  const folder = t.testdir({
    '..data': { 'old.yaml': 'endpoints: [{ name: Old, url: "https://old.example/" }]' },
    'a.yaml': `x-common: &common { interval: 5m, conditions: ["[STATUS] == 200"] }
alerting: { slack: { webhook-url: "https://hooks.slack.com/services/T/B/x", default-alert: { enabled: true } } }
endpoints: [{ <<: *common, name: One, url: "https://one.example/", headers: { X-Mode: 0644 }, alerts: [{ type: slack }] }]
`,
    more: {
      'b.yml': `alerting: { slack: { webhook-url: "https://hooks.slack.com/services/T/B/y" } }
endpoints:
  - { name: Two, url: "https://two.example/", headers: { X-Version: 1.10 }, conditions: ["[STATUS] == 200"], alerts: [{ type: slack }] }
`,
      'notes.txt': 'endpoints: []',
    },
  });
  const { format, services, items, notCarried } = await readImportFile(folder, 0);
  t.equal(format, 'gatus');
  t.match(services, [
    { domain: 'one.example', settings: { headers: ['X-Mode: 0644'] }, choice: { intervalMs: 300_000 } },
    { domain: 'two.example', settings: { headers: ['X-Version: 1.10'] } },
  ]);
  t.same(
    items.map(({ list }) => list),
    ['channels', 'rules', 'rules'],
  );
  t.match(notCarried, [{ entry: 'the file', field: 'alerting.slack.webhook-url' }]);
  await t.rejects(readImportFile(t.testdir({ 'a.yaml': 'x: 1' }), 0), { code: 'bad_import' });
});
