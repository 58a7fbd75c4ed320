/** What befalls a server once it listens. */
import t from 'tap';
import { createHttpServer, listenWithRetry } from '../../src/http/server.ts';
import { type Log, silentLog } from '../../src/log.ts';

t.test('a connection that cannot be accepted is logged once, and ends nothing', async (t) => {
  const told: unknown[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => void told.push({ ...fields, message }),
  };
  const server = createHttpServer((_request, response) => response.end('here'));
  t.teardown(() => server.close());
  const port = await listenWithRetry(server, { host: '127.0.0.1', port: 0 }, false, log);
  const error = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
  for (let times = 0; times < 3; times++) t.equal(server.emit('error', error), true, 'it has a listener');
  t.same(told, [{ error, message: 'a connection could not be accepted' }]);
  t.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'here');
});
