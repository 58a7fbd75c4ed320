/** Redirects as browsers follow them: where they lead, and with which method. */
import t from 'tap';
import { redirect, serve } from './redirecting-site.ts';
import { openProbe, type Trial } from './try-probe.ts';

const DONE = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

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
