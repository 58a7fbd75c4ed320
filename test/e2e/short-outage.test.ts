/** The connection of the prober is held up for so short a time that no attempt fails: nothing turns slow by it. */
import { createServer, type RequestListener } from 'node:http';
import t from 'tap';
import { listenOn } from '../support/loopback.ts';
import { install } from '../support/program.ts';

interface Shown {
  readonly status: string;
  readonly since: string;
  readonly last_checked: string;
}

const SLOW_OVER_MS = 900;
/** Over the limit, and far from the time-out of an attempt. */
const HELD_UP_MS = 1_800;

t.setTimeout(120_000);

t.test('it takes a delay of its own connection for no slow service, and finds a slow service', async (t) => {
  let road = Promise.resolve();
  let isCutNext = false;
  let ownDelayMs = 0;
  let cutEndedAt = Number.POSITIVE_INFINITY;
  const cut = () => {
    isCutNext = false;
    road = new Promise((resolve) => setTimeout(resolve, HELD_UP_MS));
    void road.then(() => {
      cutEndedAt = Date.now();
    });
  };
  const respond: RequestListener = (_, response) => void road.then(() => response.end());
  const control = await listenOn(createServer(respond));
  const service = await listenOn(
    createServer((request, response) => {
      if (isCutNext) cut();
      if (ownDelayMs === 0) respond(request, response);
      else setTimeout(() => response.end(), ownDelayMs);
    }),
  );
  t.teardown(() => Promise.all([control.close(), service.close()]));
  const url = `http://127.0.0.1:${service.port}/`;
  const installation = await install([{ slug: 'shop', check: { kind: 'root', url } }], {
    checks: {
      interval: '1s',
      timeout: '10s',
      slowOver: `${SLOW_OVER_MS}ms`,
      controlTargets: [`http://127.0.0.1:${control.port}/`],
    },
  });
  t.teardown(() => installation.remove());
  const program = await installation.start();
  t.teardown(() => program.killHard());
  const until = (accept: (shown: Shown) => boolean) => program.until('/api/v1/status/shop', accept, 60_000);

  const before = await until(({ status }) => status === 'up');
  isCutNext = true;
  const after = await until(({ last_checked }) => Date.parse(last_checked) > cutEndedAt);
  t.match(after, { status: 'up', since: before.since }, 'it was up all the time');
  ownDelayMs = HELD_UP_MS;
  t.equal((await until(({ status }) => status !== 'up')).status, 'slow');
});
