/** Errors as pages, and what they cost under overload. */
import t from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { overloaded } from '../../../src/http/overload.ts';
import { HttpError } from '../../../src/http/problem.ts';
import type { HttpRequest } from '../../../src/http/route.ts';
import { createErrorPage } from '../../../src/web/parts/views.ts';

/** An error page whose renderer writes down what it is asked for. */
function createWorld() {
  const clock = { nowMs: 0 };
  let made = 0;
  const errorPage = createErrorPage(
    (_template, { language, atDomain, code }, status = 200) => ({
      status,
      headers: {},
      body: `${language?.code} ${atDomain === true ? 'at its domain ' : ''}${code} ${++made}`,
    }),
    'https://upbeat.test',
    { ...systemClock, monotonic: () => clock.nowMs },
  );
  const ask = (error: HttpError, more: Partial<HttpRequest> = {}) =>
    errorPage(error, { method: 'GET', params: {}, query: '', headers: {}, client: '192.0.2.1', ...more })
      .body;
  return { clock, ask };
}

t.test('the page of a refusal under overload is made once a second for each language', async (t) => {
  const { clock, ask } = createWorld();
  const german = { headers: { 'accept-language': 'de' } };
  t.equal(ask(overloaded()), 'en overloaded 1');
  clock.nowMs = 999;
  t.equal(ask(overloaded()), 'en overloaded 1');
  t.equal(ask(overloaded(), german), 'de overloaded 2');
  t.equal(ask(overloaded(), { atDomain: true }), 'en at its domain overloaded 3');
  clock.nowMs = 1_000;
  t.equal(ask(overloaded()), 'en overloaded 4');
  t.equal(ask(overloaded(), german), 'de overloaded 2');
});

t.test('what a visitor has chosen, and other errors, have a page each time', async (t) => {
  const { ask } = createWorld();
  const missing = new HttpError('route_not_found', 'There is nothing.');
  t.same(
    [
      ask(missing),
      ask(missing),
      ask(overloaded(), { query: 'lang=de' }),
      ask(overloaded(), { query: 'lang=de' }),
    ],
    ['en route_not_found 1', 'en route_not_found 2', 'de overloaded 3', 'de overloaded 4'],
  );
  const chosen = { headers: { cookie: 'upbeat-language=de' } };
  t.same([ask(overloaded(), chosen), ask(overloaded())], ['de overloaded 5', 'en overloaded 6']);
  const long = { headers: { 'accept-language': `de, ${'en;q=0.1, '.repeat(30)}` } };
  t.same([ask(overloaded(), long), ask(overloaded(), long)], ['de overloaded 7', 'de overloaded 8']);
});
