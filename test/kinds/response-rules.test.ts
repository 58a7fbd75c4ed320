import fc from 'fast-check';
import t from 'tap';
import { describeCause, type FailureCause } from '../../src/domain/failure.ts';
import type { AcceptRule } from '../../src/domain/service.ts';
import { STATUS_VOCABULARY } from '../../src/domain/status.ts';
import { isBlocked, judgeHealth, judgeRoot, refusesHead } from '../../src/kinds/response-rules.ts';
import type { BodyReading } from '../../src/outbound/read-body.ts';
import { anyText } from '../support/any-text.ts';

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

const text = (value: string): BodyReading => ({ kind: 'text', text: value, whole: true });

const json = (value: unknown): BodyReading => text(JSON.stringify(value));

const bodyFailure = (cause: FailureCause) => ({ class: 'body', phase: 'body', cause });

const NO_BODY = text('');

const MISSING = { kind: 'missing' };

t.test('it judges a healthy body by latency alone, in any case of the word', async (t) => {
  for (const word of [...STATUS_VOCABULARY.up, 'OK', 'Healthy', 'PASS']) {
    for (const seen of [false, true]) {
      t.same(
        judgeHealth(head(200), json({ status: word, version: 3 }), seen),
        { kind: 'health', reported: null, word, failure: null },
        word,
      );
    }
  }
  t.same(judgeHealth(head(204), json({ status: 'ok' }), false).kind, 'health');
});

t.test('it believes the words for slow and down', async (t) => {
  for (const word of STATUS_VOCABULARY.slow) {
    t.same(judgeHealth(head(200), json({ status: word }), false), {
      kind: 'health',
      reported: 'slow',
      word,
      failure: null,
    });
  }
  for (const word of STATUS_VOCABULARY.down) {
    t.same(judgeHealth(head(200), json({ status: word }), false), {
      kind: 'health',
      reported: 'down',
      word,
      failure: bodyFailure({ code: 'reported_down', word }),
    });
  }
});

t.test('it calls a word outside the vocabulary down and shows it', async (t) => {
  for (const [word, shown] of [
    ['meh', 'meh'],
    ['', ''],
    [' ok', ' ok'],
    [`${'x'.repeat(500)}`, 'x'.repeat(64)],
    ['a\nb\u202e', 'a b '],
    ['cut \ud83d', 'cut \ufffd'],
  ] as const) {
    t.same(judgeHealth(head(200), json({ status: word }), false), {
      kind: 'health',
      reported: 'down',
      word: shown,
      failure: bodyFailure({ code: 'reported_unknown', word: shown }),
    });
  }
});

t.test('numbers that JSON lacks hide no word', async (t) => {
  const body = text('{"latency": NaN, "load": [-Infinity], "status": "down"}');
  t.match(judgeHealth(head(200), body, false), { kind: 'health', reported: 'down' });
});

t.test('it takes the absence of a health body for a missing endpoint until one was seen', async (t) => {
  const absent = [
    text(''),
    text('<!doctype html><title>App</title>'),
    text('ok'),
    text('{"status":"ok"'),
    json('ok'),
    json(null),
    json([]),
    json({}),
    json({ status: 1 }),
    json({ status: null }),
    json({ Status: 'ok' }),
  ];
  for (const body of absent) {
    t.same(judgeHealth(head(200), body, false), MISSING);
    t.same(judgeHealth(head(200), body, true), {
      kind: 'failed',
      failure: bodyFailure({ code: 'health_invalid' }),
    });
  }
});

t.test('a body that cannot be read is a failure, never a missing endpoint', async (t) => {
  const failure = bodyFailure({ code: 'body_undecodable', coding: 'gzip' });
  for (const seen of [false, true])
    t.same(judgeHealth(head(200), { kind: 'unreadable', coding: 'gzip' }, seen), { kind: 'failed', failure });
});

t.test('it falls back at 404, 405, 410 and 501 until a body was seen, and at no other error', async (t) => {
  for (let status = 400; status < 600; status++) {
    if (status === 429) continue;
    const failure = { class: 'status', phase: 'first_byte', cause: { code: 'status', statusCode: status } };
    const fallsBack = [404, 405, 410, 501].includes(status);
    t.same(
      judgeHealth(head(status), NO_BODY, false),
      fallsBack ? MISSING : { kind: 'failed', failure },
      String(status),
    );
    t.same(judgeHealth(head(status), NO_BODY, true), { kind: 'failed', failure }, String(status));
  }
  for (const status of [600, 700, 999]) t.same(judgeHealth(head(status), NO_BODY, false), MISSING);
  t.same(judgeHealth(head(600), NO_BODY, true).kind, 'failed');
  t.same(judgeHealth(head(999), NO_BODY, true), { kind: 'blocked' });
  t.same(judgeHealth(head(304), NO_BODY, false), MISSING);
  t.equal(judgeHealth(head(304), NO_BODY, true).kind, 'failed');
});

t.test('it fails a body of over 64 KiB, unless it is the page of an application', async (t) => {
  const failed = { kind: 'failed', failure: bodyFailure({ code: 'health_too_long', maxBytes: 65_536 }) };
  const beginning = (value: string): BodyReading => ({ kind: 'text', text: value, whole: false });
  const data = beginning('{"status":"ok","pad":"');
  const page = beginning('\n<!doctype html>');
  const bomb = beginning('aaaa');
  const html = { 'content-type': 'text/html; charset=utf-8' };
  t.same(judgeHealth(head(200), data, false), failed);
  t.same(judgeHealth(head(200), data, true), failed);
  t.same(judgeHealth(head(200), bomb, false), failed);
  t.same(judgeHealth(head(200), page, false), MISSING);
  t.same(judgeHealth(head(200, html), bomb, false), MISSING);
  t.same(judgeHealth(head(200, html), page, true), failed);
});

t.test('it never calls a bot wall or a rate limit down', async (t) => {
  for (const seen of [false, true]) {
    t.same(judgeHealth(head(429), NO_BODY, seen), { kind: 'blocked' });
    t.same(judgeHealth(head(503, { 'cf-mitigated': 'challenge' }), NO_BODY, seen), { kind: 'blocked' });
    t.same(judgeHealth(head(200, { 'cf-mitigated': 'challenge' }), NO_BODY, seen), { kind: 'blocked' });
  }
});

t.test('it judges every body and shows at most 200 characters on one line', async (t) => {
  const bodies = fc.oneof(
    fc.string().map(text),
    fc.json().map(text),
    fc.record({ status: anyText({ maxLength: 300 }) }).map(json),
  );
  const check = () =>
    fc.assert(
      fc.property(bodies, fc.integer({ min: 200, max: 599 }), fc.boolean(), (body, status, seen) => {
        const verdict = judgeHealth(head(status), body, seen);
        const failure = 'failure' in verdict ? verdict.failure : null;
        if (failure === null) return true;
        const shown = describeCause(failure);
        return shown.length <= 200 && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(shown);
      }),
    );
  t.doesNotThrow(check);
});
