/** Times of other programs as those of a check. */
import t from 'tap';
import { readImport } from '../../../src/cli/import/read-import.ts';
import { describeLost } from '../../../src/cli/import-services.ts';

/** What becomes of a monitor of Uptime Kuma at https://a.example/. */
function readMonitor(row: object) {
  const monitor = { name: 'A', url: 'https://a.example/', method: 'GET', ...row };
  return readImport(JSON.stringify({ monitorList: [monitor] }), 'kuma.json');
}

t.test('times become those of the check, where they are within its bounds', async (t) => {
  const monitors: readonly (readonly [object, choice: object, lost?: string])[] = [
    [
      { interval: 20, timeout: 0.5 },
      { intervalMs: 20_000, timeoutMs: 500 },
    ],
    [
      { interval: 30, maxretries: 1, retryInterval: 20 },
      { intervalMs: 30_000, confirmAfterMs: [20_000] },
    ],
    [{ maxretries: 0, retryInterval: 20 }, {}],
    [
      { interval: 20, timeout: 30 },
      { intervalMs: 20_000 },
      'timeout of A: timeout must not be longer than the interval',
    ],
    [{ interval: 200_000 }, {}, 'interval of A: interval must be at most 1d'],
    [{ maxretries: 11, retryInterval: 20 }, {}, 'confirmAfter of A: confirmAfter '],
    [{ interval: 'often' }, {}, 'interval of A: interval '],
  ];
  for (const [row, choice, lost] of monitors) {
    const { services, notCarried } = readMonitor({ type: 'port', hostname: 'a.example', port: 22, ...row });
    const title = JSON.stringify(row);
    t.strictSame(services[0]?.choice, choice, title);
    const [line = ''] = describeLost(notCarried);
    t.ok(line.startsWith(lost === undefined ? '' : `not carried over: ${lost}`), `${title}: ${line}`);
    t.equal(notCarried.length, lost === undefined ? 0 : 1, title);
  }
  const endpoint = { name: 'A', url: 'tcp://a.example:22', interval: '1m30s', client: { timeout: '2s' } };
  t.match(readImport(JSON.stringify({ endpoints: [endpoint] }), 'gatus.json'), {
    services: [{ choice: { intervalMs: 90_000, timeoutMs: 2_000 } }],
    notCarried: [],
  });
  const page = { name: 'A', url: 'https://a.example', client: { 'ignore-redirect': true } };
  t.match(readImport(JSON.stringify({ endpoints: [page] }), 'gatus.json'), {
    services: [{ kind: 'root', settings: { followRedirects: false } }],
    notCarried: [],
  });
  const odd = { ...endpoint, interval: '1m 30' };
  t.match(readImport(JSON.stringify({ endpoints: [odd] }), 'gatus.json').notCarried, [{ field: 'interval' }]);
});
