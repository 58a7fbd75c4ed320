/** Redirects as browsers follow them: where they lead, with which cookies, and with which method. */
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { listenRaw } from '../support/loopback.ts';
import { openProbe, type Trial } from './try-probe.ts';

/** A request as the server saw it, one character for each byte. */
interface Seen {
  readonly line: string;
  readonly cookie: string | null;
  readonly authorization: string | null;
  readonly body: string;
}

/** Serves what `answer` returns for each request, bytes as Latin-1. */
async function serve(t: Test, answer: (seen: Seen, port: number) => string) {
  const seen: Seen[] = [];
  const { port, close } = await listenRaw((socket: Socket) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
      if (end === -1 || text.length < end + 4 + length) return;
      const request = {
        line: text.slice(0, text.indexOf(' HTTP/1.1')),
        cookie: /^cookie: (.*)\r$/im.exec(text)?.[1] ?? null,
        authorization: /^authorization: (.*)\r$/im.exec(text)?.[1] ?? null,
        body: text.slice(end + 4),
      };
      seen.push(request);
      socket.end(answer(request, port), 'latin1');
    });
  });
  t.teardown(close);
  return { port, seen, lines: () => seen.map(({ line }) => line) };
}

const DONE = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const redirect = (location: string, more: readonly string[] = [], status = 302) =>
  [`HTTP/1.1 ${status} Found`, `location: ${location}`, ...more, 'content-length: 0', '', ''].join('\r\n');

t.test('it goes where a browser would go', async (t) => {
  const probe = openProbe(t);
  const rows: readonly (readonly [location: string, path: string | null])[] = [
    ['next', '/a/next'],
    ['../next?x=1', '/next?x=1'],
    ['?x=1', '/a/start?x=1'],
    ['//127.0.0.1:PORT/next', '/next'],
    ['HTTP://127.0.0.1:PORT/next', '/next'],
    ['http:\\\\127.0.0.1:PORT\\next', '/next'],
    ['http://ada:secret@127.0.0.1:PORT/next', '/next'],
    ['/next#part', '/next'],
    ['  /two words \t', '/two%20words'],
    ['/caf\xe9', '/caf%E9'],
    ['/caf\xc3\xa9?q=\xff', '/caf%C3%A9?q=%FF'],
    ['/100%', '/100%'],
    ['/next\r\nlocation: /other', '/next'],
    ['', null],
    ['   ', null],
  ];
  for (const [location, path] of rows) {
    const { port, lines } = await serve(t, ({ line }, at) =>
      line.endsWith('/a/start') ? redirect(location.replace('PORT', String(at))) : DONE,
    );
    const attempt = await probe(`http://127.0.0.1:${port}/a/start`);
    t.match(attempt, { statusCode: path === null ? 302 : 200, failure: null }, JSON.stringify(location));
    t.same(lines(), ['HEAD /a/start', ...(path === null ? [] : [`HEAD ${path}`])], JSON.stringify(location));
  }
});

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

t.test('it changes the method as browsers do, and hands a body to no other origin', async (t) => {
  const probe = openProbe(t);
  let location = '/end';
  const { port, seen } = await serve(t, ({ line }) => {
    const status = Number(line.split('/')[1]);
    return status > 0 ? redirect(location, [], status) : DONE;
  });
  const ask = async (method: string, status: number, more: object = {}) => {
    seen.length = 0;
    const body = ['GET', 'HEAD', 'OPTIONS', 'DELETE'].includes(method) ? {} : { body: 'a=1' };
    const settings = { plain: true, port, path: `/${status}`, method, ...body, ...more };
    const { statusCode } = await probe(null, { check: { kind: 'http', settings } });
    return [statusCode, ...seen.slice(1).map(({ line, body: sent }) => [line.split(' ')[0], sent])];
  };
  const follows = { followRedirects: true };
  t.same(await ask('POST', 302), [302], 'not followed by default');
  t.same(await ask('POST', 302, follows), [200, ['GET', '']]);
  t.same(await ask('POST', 303, follows), [200, ['GET', '']]);
  t.same(await ask('POST', 307, follows), [200, ['POST', 'a=1']]);
  t.same(await ask('PUT', 301, follows), [200, ['PUT', 'a=1']]);
  t.same(await ask('PUT', 303, follows), [200, ['GET', '']]);
  t.same(await ask('OPTIONS', 303), [200, ['GET', '']]);
  t.same(await ask('HEAD', 303), [200, ['HEAD', '']]);
  const other = await serve(t, () => DONE);
  location = `http://127.0.0.1:${other.port}/end`;
  const token = { ...follows, token: 'secret' };
  t.same(await ask('POST', 307, token), [200]);
  t.match(other.seen, [{ line: 'POST /end', body: '', authorization: null }]);
});

t.test('it follows no redirect if the check says so', async (t) => {
  const probe = openProbe(t);
  const { port, lines } = await serve(t, () => redirect('/else', [], 301));
  const url = `http://127.0.0.1:${port}/`;
  const settings = { followRedirects: false };
  const rows: readonly (readonly [Trial['check'], status: number, failed: boolean])[] = [
    [{ kind: 'root', settings }, 301, false],
    [{ kind: 'root', settings, accept: ['2xx'] }, 301, true],
    [{ kind: 'health', settings }, 301, false],
    [{ kind: 'http', settings }, 301, true],
    [{ kind: 'http', settings, accept: [301] }, 301, false],
    [
      { kind: 'http', settings: { ...settings, assertions: ['header location is /else'] }, accept: [301] },
      301,
      false,
    ],
  ];
  for (const [check = {}, statusCode, failed] of rows) {
    const attempt = await probe(url, { check });
    t.match(attempt, { statusCode }, JSON.stringify(check));
    t.equal(attempt.failure?.class ?? null, failed ? 'status' : null, JSON.stringify(check));
  }
  t.notOk(lines().some((line) => line.endsWith('/else')));
});
