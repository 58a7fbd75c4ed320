import t from 'tap';
import { basePathOf, headersBelow, linkBelow, stripBasePath } from '../../src/http/base-path.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';

t.test('it takes the base path from the URL of a request, if it is there', async (t) => {
  const isRoute = (url: string) => /^\/(?:status\/\w+|docs)?(?:$|\?)/.test(url);
  for (const [url, below] of [
    ['/status', '/'],
    ['/status/', '/'],
    ['/status?q=a', '/?q=a'],
    ['/status/docs', '/docs'],
    ['/status/status/github', '/status/github'],
    ['/status/github', '/status/github'],
    ['/status/nothing/at/all', '/nothing/at/all'],
    ['/statuses', '/statuses'],
    ['/docs', '/docs'],
    ['/', '/'],
  ] as const)
    t.equal(stripBasePath(url, '/status', isRoute), below, url);
  t.same(
    ['https://a.example', 'https://a.example/', 'https://a.example/up/', 'https://a.example/a/b'].map(
      basePathOf,
    ),
    ['', '', '/up', '/a/b'],
  );
});

t.test('links, redirects and cookies lead below the base path, and what leads elsewhere stays', async (t) => {
  const markup =
    '<html lang="en"><a href="/docs">href="/x"</a><a href="//b.example/">b</a><a href="https://c.example/">c</a><img srcset="/a.png" src="data:,">';
  t.equal(linkBelow(markup, ''), markup);
  t.equal(
    linkBelow(markup.replace('href="/x"', 'href=&quot;/x&quot;'), '/up'),
    '<html data-base="/up" lang="en"><a href="/up/docs">href=&quot;/x&quot;</a><a href="//b.example/">b</a><a href="https://c.example/">c</a><img srcset="/up/a.png" src="data:,">',
  );
  const headers = [
    ...['Location', '/dashboard', 'Content-Length', 0],
    ...['Link', '</api/v1/services?offset=50>; rel="next", <https://a.example/>; rel="status"'],
  ];
  const answer = {
    status: 303,
    headers: [...headers, 'Set-Cookie', ['a=1; Path=/; HttpOnly', 'b=2']],
    body: '',
    bodyBytes: 0,
  };
  headersBelow(answer, '/up');
  t.same(answer.headers, [
    ...['Location', '/up/dashboard', 'Content-Length', 0],
    ...['Link', '</up/api/v1/services?offset=50>; rel="next", <https://a.example/>; rel="status"'],
    ...['Set-Cookie', ['a=1; Path=/up; HttpOnly', 'b=2']],
  ]);
  t.match(
    createSiteCookie('https://a.example/up').write('x', 1)['Set-Cookie'],
    /^__Secure-upbeat=x; Path=\/;/,
  );
});
