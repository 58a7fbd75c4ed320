/** The product that requests name. */
import t from 'tap';
import { userAgentOf } from '../../src/outbound/send-request.ts';
import { redirect, serve } from '../probe/redirecting-site.ts';
import { openProbe } from '../probe/try-probe.ts';

t.test('it names the product, its version and the address of the site', async (t) => {
  t.equal(userAgentOf('1.2.0', 'https://status.example'), 'Upbeat/1.2.0 (+https://status.example)');
  t.equal(userAgentOf('1.2.0\r\n', 'https://x/(a)\r\nb'), 'Upbeat/1.2.0 (+https://x/%28a%29%0D%0Ab)');
});

const DONE = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

t.test('it sends the cookies of earlier hops, as a browser does', async (t) => {
  const probe = openProbe(t);
  const rows: readonly (readonly [set: readonly string[], cookie: string | null, location?: string])[] = [
    [['k=1; Path=/'], 'k=1'],
    [['k=1; HttpOnly; SameSite=Lax', 'l="a b"'], 'k=1; l="a b"'],
    [['k=1', 'k=2'], 'k=2'],
    [['k=1; Path=/', 'k=; Path=/; Max-Age=0'], null],
    [['k=1', 'k=; Expires=Thu, 01-Jan-1970 00:00:00 GMT'], null],
    [['k=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60'], 'k=1'],
    [['k=1; Expires=nonsense; Max-Age=soon'], 'k=1'],
    [['k=1; Secure'], null],
    [['k=1; Domain=other.example'], null],
    [['k=1; Domain=127.0.0.1'], 'k=1'],
    [['k=1; Domain=0.0.1'], null],
    [['k=1; Path=/inner'], null],
    [['k=1; Path=/inner', 'l=2'], 'k=1; l=2', '/inner/page'],
    [['k=1; Path=/inn'], null, '/inner'],
    [['=1', 'nothing', 'k=\x01'], null],
    [['k=\xe9\xff'], 'k=\xe9\xff'],
    [[`k=${'x'.repeat(5000)}`, 'l=2'], 'l=2'],
    [['k=1'], 'k=1', 'http://127.0.0.1:PORT/other'],
    [['k=1'], null, 'http://[::1]:PORT/other'],
  ];
  for (const [set, cookie, location = '/home'] of rows) {
    const { port, seen } = await serve(t, ({ line }, at) =>
      line === 'HEAD /'
        ? redirect(
            location.replace('PORT', String(at)),
            set.map((text) => `set-cookie: ${text}`),
          )
        : DONE,
    );
    await probe(`http://127.0.0.1:${port}/`);
    t.equal(seen[1]?.cookie ?? null, cookie, set.join(' + '));
  }
});

t.test('a site that redirects until its cookie comes back is up', async (t) => {
  const probe = openProbe(t);
  const { port, seen } = await serve(t, ({ cookie, line }) =>
    cookie?.includes('seen=1') ? DONE : redirect(`${line.split(' ')[1]}x`, ['set-cookie: seen=1; Path=/']),
  );
  const url = `http://127.0.0.1:${port}/`;
  t.match(await probe(url), { statusCode: 200, failure: null });
  t.match(await probe(url), { statusCode: 200, failure: null });
  t.same(
    seen.map(({ cookie }) => cookie),
    [null, 'seen=1', null, 'seen=1'],
    'the cookie ends with the attempt',
  );
});

t.test('cookies of a redirect are bounded, and join those of the settings', async (t) => {
  const probe = openProbe(t);
  const many = Array.from({ length: 60 }, (_, index) => `set-cookie: c${index}=${'x'.repeat(1000)}`);
  const { port, seen } = await serve(t, ({ line }) =>
    line === 'GET /' ? redirect('/home', ['set-cookie: k=new', ...many]) : DONE,
  );
  const secretHeaders = ['Cookie: own=1; c59=old'];
  const settings = { plain: true, port, secretHeaders };
  t.match(await probe(null, { check: { kind: 'http', settings } }), { statusCode: 200 });
  const sent = seen[1]?.cookie ?? '';
  t.ok(sent.startsWith('own=1; c10=x'), sent.slice(0, 40));
  t.ok(sent.length <= 16_384 && sent.length > 14_000, `${sent.length} bytes`);
  t.notMatch(sent, /k=new|old/);
});
