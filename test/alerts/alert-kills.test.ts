/** `kill -9` of what decides and sends alerts, a few times; `npm run soak -- alert-kills` does it a hundred times. */
import t from 'tap';
import { findFaults, runAlertKills } from './kill-alerts.ts';

t.setTimeout(180_000);

t.test('it tells each alert in order, and again only over a kill', async (t) => {
  const { kills, messages, faults } = await runAlertKills({
    dataDir: t.testdir(),
    postgresUrl: null,
    kills: 5,
    accounts: 3,
    servicesPerAccount: 4,
    lengthMs: 2_500,
  });
  t.same(faults, []);
  t.ok(kills >= 1 && messages >= 3, `${kills} kills, ${messages} messages`);
});

t.test('its judge finds what must not be', async (t) => {
  const paths = new Map([['s', '/a']]);
  const take = (id: string, at: number, status: string, path = '/a') => ({
    ...{ id, at, path },
    services: [{ slug: 's', status }],
  });
  const [down, up] = [take('1', 1, 'down'), take('2', 3, 'up')];
  t.same(findFaults([down, up], [], paths), []);
  t.same(findFaults([down, { ...down, at: 2 }, up], [1.5], paths), []);
  t.same(findFaults([down, { ...down, at: 2 }, up], [2.5], paths), ['1 was repeated without a kill']);
  t.same(findFaults([up, down], [], paths), ['s: up,down']);
  t.same(findFaults([down], [], paths), ['s: down']);
  t.same(findFaults([], [], paths), ['s: nothing']);
  t.same(findFaults([up], [], paths), ['s: up']);
  t.same(findFaults([up], [], paths, new Set(['/a'])), []);
  const again = take('2', 2, 'down');
  t.same(findFaults([down, again, { ...up, id: '3' }], [1.5], paths, new Set(['/a'])), []);
  t.same(findFaults([down, again, { ...up, id: '3' }], [1.5], paths), ['s: down,down,up']);
  t.same(findFaults([down, again, { ...up, id: '3' }], [2.5], paths, new Set(['/a'])), ['s: down,down,up']);
  t.same(findFaults([{ ...down, path: '/b' }, up], [], paths), ['s was told to /b']);
});
