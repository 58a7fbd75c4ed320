/** The headers of every response. */
import t from 'tap';
import { completeResponse, EMBED_HEADERS, PAGE_HEADERS } from '../../src/http/complete-response.ts';
import { type HttpRequest, type HttpResponse, jsonText, type Route } from '../../src/http/route.ts';

const ALLOWANCE = {
  allowed: true,
  limit: 60,
  remaining: 59,
  resetAtSeconds: 1_790_000_000,
  retryAfterSeconds: 60,
};

const ROUTE: Route = { path: '/a', bucket: 'api', access: 'everyone', handle: () => jsonText('{}') };

const requestOf = (headers: HttpRequest['headers'] = {}, method = 'GET'): HttpRequest => ({
  ...{ method, headers },
  ...{ params: {}, query: '', client: '192.0.2.1' },
});

const complete = (answer: HttpResponse, headers?: HttpRequest['headers'], route = ROUTE) =>
  completeResponse(answer, route, requestOf(headers), ALLOWANCE);

const COMMON = [
  ...['Access-Control-Allow-Origin', '*'],
  'Access-Control-Expose-Headers',
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, Link',
  ...['X-Content-Type-Options', 'nosniff'],
  ...['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'", 'X-Frame-Options', 'DENY'],
];

const TYPE = ['Content-Type', 'application/json; charset=utf-8'];

const OWN = [
  ...['Cache-Control', 'no-cache'],
  ...['X-RateLimit-Limit', '60', 'X-RateLimit-Remaining', '59', 'X-RateLimit-Reset', '1790000000'],
  ...['ETag', '"tag"'],
];

t.test('a response has the same headers however often the same ones are completed', async (t) => {
  const answer = jsonText('"ä"', '"tag"');
  for (let time = 0; time < 3; time++)
    t.same(complete(answer), {
      ...{ status: 200, body: '"ä"', bodyBytes: 4 },
      headers: [...COMMON, ...TYPE, ...OWN, 'Content-Length', 4],
    });
});

t.test('what the client has is a 304 without a type and a length', async (t) => {
  const answer = jsonText('{}', '"tag"');
  for (let time = 0; time < 2; time++)
    t.same(complete(answer, { 'if-none-match': '"tag"' }), {
      ...{ status: 304, body: '', bodyBytes: 0 },
      headers: [...COMMON, ...OWN],
    });
  t.same(
    complete({ status: 200, headers: {}, body: '', etag: '"tag"' }, { 'if-none-match': '*' }).headers.slice(
      -2,
    ),
    ['ETag', '"tag"'],
    'a response without a type keeps its last header',
  );
});

t.test('frozen headers are completed for other origins and for this one alone', async (t) => {
  const { headers } = complete(jsonText('{}'), {}, { ...ROUTE, sameOrigin: true });
  t.notOk(headers.includes('Access-Control-Allow-Origin'));
  t.ok(complete(jsonText('{}')).headers.includes('Access-Control-Allow-Origin'));
});

t.test('cookies stand together, in place of the one in the headers', async (t) => {
  const page = { status: 200, headers: { 'Set-Cookie': 'a=1', Vary: 'Cookie' }, body: '', cookies: ['b=2'] };
  const { headers } = complete(page);
  t.same(headers[headers.indexOf('Set-Cookie') + 1], ['a=1', 'b=2']);
  t.same(complete({ ...page, headers: {} }).headers.slice(-4), ['Set-Cookie', ['b=2'], 'Content-Length', 0]);
});

const POLICY = 'Content-Security-Policy';

t.test('no page runs scripts of its text or of others', async (t) => {
  for (const { [POLICY]: policy = '' } of [PAGE_HEADERS, EMBED_HEADERS]) {
    t.match(policy, /^default-src 'none';.*script-src 'self';.*base-uri 'none'/);
    t.notMatch(policy, /unsafe|https?:/);
  }
  t.equal(PAGE_HEADERS['X-Frame-Options'], 'DENY');
  t.equal(EMBED_HEADERS['X-Frame-Options'], undefined);
});
