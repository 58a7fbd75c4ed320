import t from 'tap';
import type { AcceptRule } from '../../src/domain/service.ts';
import { isBlocked, judgeRoot, refusesHead } from '../../src/kinds/response-rules.ts';

const head = (statusCode: number, headers = {}) => ({ statusCode, headers });

t.test('it holds 5xx, 404 and 410 for errors of a root check, and nothing else', async (t) => {
  for (let status = 200; status < 1000; status++) {
    const wanted = status === 404 || status === 410 || (status >= 500 && status < 600);
    t.equal(judgeRoot(head(status), null) !== null, wanted, String(status));
  }
  t.same(judgeRoot(head(503), null), {
    class: 'status',
    phase: 'first_byte',
    cause: { code: 'status', statusCode: 503 },
  });
});

t.test('it allows a service to override what is good', async (t) => {
  const accept: readonly AcceptRule[] = ['2xx', '3xx', 401];
  for (const status of [200, 204, 299, 301, 304, 401]) t.equal(judgeRoot(head(status), accept), null);
  for (const status of [400, 402, 403, 404, 500]) t.ok(judgeRoot(head(status), accept));
  t.equal(judgeRoot(head(404), [404]), null);
  t.ok(judgeRoot(head(200), [404]));
  t.ok(judgeRoot(head(200), []));
  t.equal(judgeRoot(head(700), ['7xx']), null);
  t.ok(judgeRoot(head(700), ['2xx']));
});

t.test('it never calls a bot wall or a rate limit down', async (t) => {
  for (const status of [200, 403, 404, 429, 500, 503]) {
    const wall = head(status, { 'cf-mitigated': 'challenge' });
    t.equal(judgeRoot(wall, null), null);
    t.equal(judgeRoot(wall, [200]), null);
    t.ok(isBlocked(wall));
  }
  t.equal(judgeRoot(head(429), ['2xx']), null);
  t.ok(isBlocked(head(429)));
  t.ok(isBlocked(head(403, { 'cf-mitigated': ['', ' Challenge '] })));
  t.ok(isBlocked(head(999)));
  t.notOk(isBlocked(head(600)));
  t.notOk(isBlocked(head(403, { 'cf-mitigated': 'no' })));
  const walls: readonly (readonly [name: string, value: string, blocked: boolean])[] = [
    ['x-amzn-waf-action', 'challenge', true],
    ['x-amzn-waf-action', 'captcha', true],
    ['x-amzn-waf-action', 'allow', false],
    ['x-vercel-mitigated', 'challenge', true],
    ['x-vercel-mitigated', 'deny', false],
    ['x-dd-b', '1', true],
    ['x-datadome', 'protected', false],
    ['x-sucuri-block', 'FBP007', true],
    ['x-sucuri-id', '19002', false],
  ];
  for (const [name, value, blocked] of walls)
    t.equal(isBlocked(head(403, { [name]: value })), blocked, `${name}: ${value}`);
  t.notOk(isBlocked(head(403)));
});

t.test('it asks again by GET after any 4xx or 5xx, limits and bot walls included', async (t) => {
  for (let status = 200; status < 1000; status++) {
    const wanted = status >= 400 && status < 600;
    t.equal(refusesHead(head(status)), wanted, String(status));
    t.equal(refusesHead(head(status, { 'cf-mitigated': 'challenge' })), wanted, `wall, ${status}`);
  }
});
