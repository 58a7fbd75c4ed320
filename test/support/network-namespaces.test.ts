import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { openNetwork, SILENT_ADDRESS, withNamespaces } from './network-namespaces.ts';

const CONNECT = `
  const socket = require('node:net').connect(Number(process.argv[2]), process.argv[1]);
  socket.setTimeout(Number(process.argv[3]), () => { console.log('silence'); process.exit(); });
  socket.on('data', (data) => { console.log(String(data)); process.exit(); });
  socket.on('error', (error) => { console.log(error.code); process.exit(); });
`;

t.test('a network of namespaces', withNamespaces, async (t) => {
  const network = await openNetwork(t);
  const [near, far] = [await network.add(), await network.add()];
  const server = createTcpServer((socket) => socket.end('hello'));
  const refuse = await far.serve(server, 80);
  const dial = async (address: string, patienceMs = 20_000) => {
    const child = near.spawn(process.execPath, ['-e', CONNECT, address, '80', String(patienceMs)]);
    return (await text(child.stdout as NodeJS.ReadableStream)).trim();
  };

  t.test('it leads from one to another over IPv4 and IPv6', async (t) => {
    t.equal(await dial(far.address), 'hello');
    t.equal(await dial(far.address6), 'hello');
  });

  t.test('it knows no other network', async (t) => {
    t.equal(await dial('192.0.2.1'), 'ENETUNREACH');
    t.equal(await dial('127.0.0.1'), 'ECONNREFUSED');
    t.equal(await dial(SILENT_ADDRESS, 500), 'silence');
  });

  t.test('it cuts a link at either end and mends it', async (t) => {
    for (const end of [far, near]) {
      end.cut();
      end.cut();
      t.equal(await dial(far.address, 500), 'silence');
      t.equal(await dial(far.address6, 500), 'silence');
      end.restore();
      t.equal(await dial(far.address), 'hello');
    }
  });

  t.test('it cuts the way between two namespaces alone', async (t) => {
    const third = await network.add();
    await third.serve(
      createTcpServer((socket) => socket.end('good day')),
      80,
    );
    near.cut(far);
    near.cut(far);
    t.same([await dial(far.address, 500), await dial(far.address6, 500)], ['silence', 'silence']);
    t.equal(await dial(third.address), 'good day');
    near.restore();
    t.equal(await dial(far.address), 'hello');
  });

  t.test('it reaches a port of a namespace from here, its link cut or not', async (t) => {
    const pages = createServer((_, response) => response.end('a page'));
    await far.serve(pages, 8080);
    const url = await far.expose(8080);
    far.cut();
    t.equal(await (await fetch(url, { headers: { connection: 'close' } })).text(), 'a page');
    far.restore();
  });

  t.test('it refuses connections from when a server is taken away', async (t) => {
    refuse();
    t.equal(await dial(far.address), 'ECONNREFUSED');
  });
});

t.test('a network ends with its test, however that ends', withNamespaces, async (t) => {
  const script = `
    import { openNetwork } from ${JSON.stringify(`${import.meta.dirname}/network-namespaces.ts`)};
    const network = await openNetwork({ teardown() {} });
    const space = await network.add();
    const sleeper = space.spawn('sleep', ['600']);
    console.log(space.enter[2], sleeper.pid);
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  t.teardown(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  const pids = String(line).trim().split(' ');
  t.ok(pids.length === 2 && pids.every((pid) => existsSync(`/proc/${pid}`)));
  child.kill('SIGKILL');
  await once(child, 'exit');
  while (pids.some((pid) => existsSync(`/proc/${pid}`))) await new Promise((wake) => setTimeout(wake, 20));
});
