/** The cookie of the site: its name, its attributes, and the values that it refuses. */
import t from 'tap';
import { createSiteCookie } from '../../src/http/cookies.ts';

t.test('it is bound to this very host and to TLS where the site has it', async (t) => {
  t.strictSame(createSiteCookie('https://upbeat.example').write('abc', 60), {
    'Set-Cookie': '__Host-upbeat=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure',
  });
  t.strictSame(createSiteCookie('http://upbeat.lan').write('abc', 60), {
    'Set-Cookie': 'upbeat=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax',
  });
  t.match(createSiteCookie('https://upbeat.example').write('', 60)['Set-Cookie'], /=; Path=\/; Max-Age=0;/);
});

t.test('installations at ports of one host do not read the cookies of each other', async (t) => {
  const sites = [
    'http://localhost:8080',
    'http://localhost:8081',
    'https://a.example:8443',
    'https://a.example',
  ];
  const cookies = sites.map((site) => createSiteCookie(site));
  const header = cookies.map(({ name }, index) => `${name}=${index}`).join('; ');
  t.same(
    cookies.map((cookie) => cookie.read(header)),
    ['0', '1', '2', '3'],
  );
  t.match(cookies[0]?.write('', 60)['Set-Cookie'], /^upbeat-8080=; Path=\/; Max-Age=0;/);
});

t.test('it reads its own value and no other', async (t) => {
  const cookie = createSiteCookie('https://upbeat.example');
  const table: readonly [string | undefined, string][] = [
    [undefined, ''],
    ['', ''],
    ['upbeat=plain', ''],
    ['a=1; __Host-upbeat=abc; b=2', 'abc'],
    ['x__Host-upbeat=abc', ''],
    ['__Host-upbeat', ''],
    [`__Host-upbeat=${'a'.repeat(5_000)}`, 'a'.repeat(2_000)],
    ['__Host-upbeat=first; __Host-upbeat=second', 'first'],
  ];
  for (const [header, value] of table) t.equal(cookie.read(header), value, header ?? 'none');
});
