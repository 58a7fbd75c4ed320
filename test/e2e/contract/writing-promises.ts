/** What the contract promises to those who report, and to everybody about keys, limits and events (contract 4.5, 5, 8). */

import { at, textAt } from '../../support/json.ts';
import { newAddress, type Reply } from './contract-world.ts';
import type { ContractPromise } from './reading-promises.ts';

const HEARTBEAT = '/api/v1/heartbeat';

/** The list. */
export const WRITING_PROMISES: readonly ContractPromise[] = [
  {
    promise: '4.5: a heartbeat registers its domain, is answered, and visible to the next read',
    dependsOn: ['redis', 'role'],
    async holds(t, { get, post, key, name }) {
      const { headers } = await key('ada');
      const domain = `${name}-jobs.example.net`;
      const path = `/api/v1/status/${domain.replaceAll('.', '-')}`;
      const first = await post(
        HEARTBEAT,
        {
          domain,
          status: 'ok',
          checks: { db: { status: 'ok', latency: 42 }, cache: { status: 'ok', latency: 7 } },
        },
        headers,
      );
      t.equal(first.status, 200, first.bytes.toString());
      t.strictSame(first.json, {
        ok: true,
        service: domain,
        status: 'up',
        response_time: 42,
        checked_at: at(first.json, 'checked_at'),
      });
      t.match((await get(path)).json, {
        domain,
        category: 'developer',
        status: 'up',
        response_time: 42,
        last_checked: at(first.json, 'checked_at'),
        self_reported: true,
        latest_check: { status: 'up', status_code: 200, source: 'heartbeat' },
      });
      const table = [
        ['DEGRADED', 'slow'],
        ['outage', 'down'],
        ['Operational', 'up'],
        ['warn', 'slow'],
      ] as const;
      for (const [word, status] of table) {
        t.match(
          (await post(HEARTBEAT, { domain, status: word }, headers)).json,
          { status, response_time: 0 },
          word,
        );
        t.match((await get(path)).json, { status }, `${word}, read`);
      }
      const slow = { domain, status: 'ok', checks: { db: { status: 'ok', latency: 3_001 } } };
      t.match((await post(HEARTBEAT, slow, headers)).json, { status: 'slow' });
      const run = await post(`${HEARTBEAT}/start`, { domain, run: 'r1' }, headers);
      t.match(run.json, { status: 'slow', run: { id: 'r1', duration_ms: null } });
      t.match((await post(`${HEARTBEAT}/fail`, { domain, run: 'r1' }, headers)).json, {
        status: 'down',
        run: { id: 'r1', duration_ms: Number },
      });
    },
  },
  {
    promise: '4.5: what is no heartbeat is refused',
    dependsOn: ['role'],
    async holds(t, { post, key, name }) {
      const { headers } = await key('bob');
      const domain = `${name}-refused.example.net`;
      const old = new Date(Date.now() - 11 * 60_000).toISOString();
      const soon = new Date(Date.now() + 6 * 60_000).toISOString();
      const table: readonly [string, unknown, number, string][] = [
        ['no domain', { status: 'ok' }, 400, 'invalid_body'],
        ['no status', { domain }, 400, 'invalid_body'],
        ['a word outside the vocabulary', { domain, status: 'fine' }, 400, 'invalid_body'],
        ['an address', { domain: '192.0.2.1', status: 'ok' }, 400, 'invalid_body'],
        ['an old time', { domain, status: 'ok', timestamp: old }, 400, 'invalid_body'],
        ['a time to come', { domain, status: 'ok', timestamp: soon }, 400, 'invalid_body'],
        ['no JSON', '{', 400, 'invalid_body'],
        ['too much', { domain, status: 'ok', more: 'x'.repeat(17_000) }, 413, 'body_too_large'],
        ['a domain of the catalogue', { domain: 'api.quick.example', status: 'ok' }, 403, 'forbidden_domain'],
      ];
      for (const [what, body, status, code] of table)
        t.match(await post(HEARTBEAT, body, headers), { status, json: { code } }, what);
      const text = await post(HEARTBEAT, 'domain=x', { ...headers, 'content-type': 'text/plain' });
      t.match(text, { status: 415 });
      const body = { domain, status: 'ok' };
      for (const authorization of [undefined, 'Bearer upb_nothing']) {
        const refused = await post(HEARTBEAT, body, authorization === undefined ? {} : { authorization });
        t.match(refused, { status: 401, json: { code: 'invalid_key' } });
        t.match(refused.headers.get('www-authenticate'), /^Bearer/);
      }
      t.match(await post(HEARTBEAT, body, headers), { status: 200 });
      const { headers: other } = await key('eve');
      t.match(await post(HEARTBEAT, body, other), { status: 403, json: { code: 'forbidden_domain' } });
    },
  },
  {
    promise: '3: silence turns a service down, and the next heartbeat up',
    dependsOn: ['redis', 'role'],
    async holds(t, { get, post, until, key, name, registry }) {
      const { headers } = await key('carl');
      const domain = `${name}-silent.example.net`;
      const slug = domain.replaceAll('.', '-');
      const beat = () => post(HEARTBEAT, { domain, status: 'ok' }, headers);
      await beat();
      const { check } = await registry.changeService(slug, {});
      await registry.changeService(slug, { check: { ...check, periodMs: 2_000, graceMs: 1_000 } });
      const last = textAt((await beat()).json, 'checked_at');
      const down = await until(`/api/v1/status/${slug}`, (body) => at(body, 'status') === 'down');
      t.match(down, {
        response_time: null,
        since: at(down, 'last_checked'),
        latest_check: { status_code: 0, source: 'silence' },
      });
      t.ok(Date.parse(textAt(down, 'last_checked')) > Date.parse(last), 'at its deadline');
      t.equal(at((await get(`/api/v1/incidents/${slug}`)).json, 'incidents', 'length'), 1);
      // On a slow machine the next silence must not come before the next question.
      await registry.changeService(slug, { check });
      t.match((await beat()).json, { status: 'up' });
      t.match((await get(`/api/v1/status/${slug}`)).json, { status: 'up' });
    },
  },
  {
    promise: '5: a key works at once, and not any more within a second of its end',
    dependsOn: ['role'],
    async holds(t, { get, key, registry }) {
      const { id, headers } = await key('dora');
      t.equal((await get('/api/v1/status/quick', headers)).headers.get('x-ratelimit-limit'), '60');
      t.equal((await get('/api/v1/status/quick')).headers.get('x-ratelimit-limit'), '15');
      t.match(await get('/api/v1/status/quick', { authorization: 'Bearer upb_wrong' }), { status: 401 });
      t.match(await get('/api/v1/status/quick', { authorization: 'Basic YTpi' }), { status: 200 });
      await registry.revokeKey(id, Date.now());
      // Within a second by the rule; later by what a busy machine adds.
      let status = 200;
      for (let seconds = 0; seconds < 45 && status === 200; seconds++) {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        status = (await get('/api/v1/status/quick', headers)).status;
      }
      t.equal(status, 401);
    },
  },
  {
    promise: '8: fifteen a minute and address, told in the headers',
    dependsOn: ['redis', 'role'],
    async holds(t, { get, key }) {
      const count = async (address: object) => {
        const replies = [];
        for (let asked = 0; asked < 16; asked++)
          replies.push(await get('/api/v1/status/quick', { ...address }));
        return replies;
      };
      const wanted = [...Array.from({ length: 15 }, (_, index) => [200, String(14 - index)]), [429, '0']];
      const toldBy = (replies: readonly Reply[]) =>
        replies.map(({ status, headers }) => [status, headers.get('x-ratelimit-remaining')]);
      // A new minute may begin, or the shared count be out of reach for a moment: then it is tried on another address.
      let address = {};
      let replies: Reply[] = [];
      for (let tries = 0; tries < 10; tries++) {
        address = { 'x-forwarded-for': newAddress() };
        replies = await count(address);
        if (JSON.stringify(toldBy(replies)) === JSON.stringify(wanted)) break;
      }
      t.same(toldBy(replies), wanted);
      const last = replies.at(-1);
      t.match(last?.json, { code: 'rate_limited' });
      t.match(last?.headers.get('retry-after'), /^[1-9]\d*$/);
      t.match(last?.headers.get('x-ratelimit-reset'), /^\d{10}$/);
      t.equal(
        (await get('/api/v1/status/quick', { ...address, ...(await key('finn')).headers })).status,
        200,
      );
      t.equal((await get('/healthz', address)).status, 200, 'no limit');
      t.equal((await get('/api/badge/quick-example', address)).status, 200, 'a bucket of its own');
    },
  },
  {
    promise: 'events: each change once, resumable by its id',
    dependsOn: ['redis', 'role'],
    async holds(t, { program, post, key, name }) {
      const { headers } = await key('gail');
      const domain = `${name}-told.example.net`;
      const slug = domain.replaceAll('.', '-');
      await post(HEARTBEAT, { domain, status: 'ok' }, headers);
      const listen = async (count: number, from: Record<string, string>, act: () => Promise<void>) => {
        const controller = new AbortController();
        const response = await fetch(`${program.siteUrl}/api/v1/events?slug=${slug}`, {
          headers: { 'x-forwarded-for': newAddress(), ...from },
          signal: controller.signal,
        });
        const events: { id: string; to: string }[] = [];
        let rest = '';
        let begun = false;
        for await (const chunk of response.body ?? []) {
          rest += Buffer.from(chunk).toString();
          const parts = rest.split('\n\n');
          rest = parts.pop() ?? '';
          for (const part of parts) {
            const [, id = '', data = '{}'] = /id: ([\w-]+)\nevent: status\ndata: (.*)/.exec(part) ?? [];
            if (id !== '') events.push({ id, to: (JSON.parse(data) as { to: string }).to });
          }
          if (!begun) await act();
          begun = true;
          if (events.length >= count) break;
        }
        controller.abort();
        return events;
      };
      const words = ['down', 'ok', 'warn'];
      const live = await listen(3, {}, async () => {
        for (const status of words) await post(HEARTBEAT, { domain, status }, headers);
      });
      t.same(
        live.map(({ to }) => to),
        ['down', 'up', 'slow'],
      );
      const resumed = await listen(2, { 'last-event-id': live[0]?.id ?? '' }, async () => {});
      t.same(resumed, live.slice(1));
    },
  },
];
