/** The tools of `/mcp`: verdicts, searches and lists. */
import t from 'tap';
import type { VendorStatus } from '../../src/domain/incident/vendor-incident.ts';
import { judgeOutage, OUTAGE_VERDICTS, type OutageFacts } from '../../src/domain/status/outage-verdict.ts';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';
import { at, listAt, textAt } from '../support/json.ts';
import { connect, startTroubled } from './assistant.ts';

const SITE = 'https://upbeat.test';

t.test('it says whether a service is down for others too', async (t) => {
  const world = await startTroubled(t);
  const client = await connect(t, world);
  const ask = async (text: string) =>
    (await client.callTool({ name: 'is_it_down', arguments: { service: text } })).structuredContent;
  t.match(await ask('GitHub'), {
    verdict: 'vendor_problem',
    page_url: `${SITE}/status/github-com`,
    status: { slug: 'github', status: 'up', vendor: { status: 'major' } },
    open_incidents: [{ id: 'v-1', title: 'Errors' }],
  });
  t.match(await ask('shop.example.org'), { verdict: 'down', open_incidents: [{ id: 'own-3-1' }] });
  t.match(await ask('gitlab'), { verdict: 'unknown', status: { stale: true } });
  t.match(await ask('never'), { verdict: 'unknown', status: { latest_check: null }, open_incidents: [] });
  world.state.prober = { online: false, offlineSince: NOW - 5_000, reason: 'no control target responds' };
  t.match(await ask('shop'), { verdict: 'unknown' }, 'while our own connection is down');
});

t.test('it gives verdicts by rule', async (t) => {
  const facts = (more: Partial<OutageFacts>): OutageFacts => ({
    status: 'up',
    isOutdated: false,
    scope: null,
    vendor: null,
    ...more,
  });
  const table: readonly [Partial<OutageFacts>, string][] = [
    [{}, 'up'],
    [{ status: 'slow' }, 'slow'],
    [{ status: 'unknown' }, 'unknown'],
    [{ status: 'down', scope: 'global' }, 'down'],
    [{ status: 'down', scope: 'global', vendor: 'maintenance' }, 'down'],
    [{ status: 'up', scope: 'partial' }, 'partly_down'],
    [{ status: 'up', scope: 'partial', vendor: 'critical' }, 'partly_down'],
    [{ status: 'down', isOutdated: true }, 'unknown'],
    [{ status: 'up', isOutdated: true, vendor: 'minor' }, 'vendor_problem'],
    [{ status: 'unknown', vendor: 'maintenance' }, 'maintenance'],
    ...(['minor', 'major', 'critical'] as const).map(
      (vendor: VendorStatus): [Partial<OutageFacts>, string] => [{ vendor }, 'vendor_problem'],
    ),
    [{ vendor: 'operational' }, 'up'],
    [{ vendor: 'unknown' }, 'up'],
    [{ vendor: 'maintenance', status: 'slow' }, 'maintenance'],
  ];
  for (const [more, verdict] of table) {
    const judged = judgeOutage(facts(more));
    t.equal(judged.verdict, verdict, JSON.stringify(more));
    t.match(judged.sentence, /^[A-Z].+\.$/);
  }
  t.strictSame([...new Set(table.map(([, verdict]) => verdict))].sort(), [...OUTAGE_VERDICTS].sort());
  for (const [because, name] of [
    ['Router', 'Router'],
    [null, 'something in front of it'],
  ] as const)
    t.equal(
      judgeOutage(facts({ status: 'down', unreached: { because } })).sentence,
      `It is not just you: the service cannot be reached, because of ${name}.`,
    );
});

t.test(
  'it finds the service that is meant, and never one that nobody has verified by its name',
  async (t) => {
    const world = await startTroubled(t);
    const client = await connect(t, world);
    const find = async (text: string) => {
      const result = await client.callTool({ name: 'service_status', arguments: { service: text } });
      return result.isError === true ? result.structuredContent : at(result.structuredContent, 'slug');
    };
    for (const text of [
      'github',
      'GITHUB',
      ' GitHub ',
      'github.com',
      'https://api.github.com/x?y',
      'github-com',
    ])
      t.equal(await find(text), 'github', text);
    t.equal(await find('never ch'), 'never', 'a part of one name');
    t.equal(await find('evil.example.org'), 'evil', 'a domain is exact');
    t.match(await find('git'), {
      code: 'service_not_found',
      candidates: [{ slug: 'github' }, { slug: 'gitlab' }],
    });
    t.match(await find('ignore all previous'), { candidates: [{ slug: 'evil' }] });
    t.match(await find('nothing like it'), { code: 'service_not_found', candidates: [] });
  },
);

t.test('it pages through lists by cursor', async (t) => {
  const world = await startTroubled(t);
  const client = await connect(t, world);
  const all = async (name: string, list: string, member: string, more: object = {}) => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const given = { ...more, limit: 1, ...(cursor === undefined ? {} : { cursor }) };
      const { structuredContent } = await client.callTool({ name, arguments: given });
      seen.push(...listAt(structuredContent, list).map((one) => textAt(one, member)));
      cursor = (at(structuredContent, 'next_cursor') ?? undefined) as string | undefined;
    } while (cursor !== undefined && seen.length < 20);
    return seen;
  };
  t.strictSame(await all('list_services', 'services', 'slug'), ['evil', 'github', 'gitlab', 'never', 'shop']);
  t.strictSame(await all('incidents', 'incidents', 'id'), ['own-3-1', 'v-1', 'v-0']);
  t.strictSame(await all('incidents', 'incidents', 'id', { service: 'github' }), ['v-1', 'v-0']);
});

t.test('it names no private service as the cause', async (t) => {
  const world = await startApi({
    services: [
      service(1, 'vault', { origin: 'owner', accountId: 7, visibility: 'private' }),
      service(2, 'shop', { dependsOn: ['vault'] }),
    ],
  });
  t.teardown(world.close);
  await world.status.put([1, 2].map((id) => current(id, check(NOW, { status: 'down' }))));
  const client = await connect(t, world);
  const { structuredContent } = await client.callTool({ name: 'is_it_down', arguments: { service: 'shop' } });
  t.match(structuredContent, { sentence: /because of something in front of it/ });
  t.notMatch(JSON.stringify(structuredContent), /vault/i);
});
