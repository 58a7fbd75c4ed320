/** Threads that hang, a mail server that hangs and a full disk: what clients of each kind see is what the table says (`fault-table.ts`). */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { until } from '../support/loopback.ts';
import { startMailServer } from '../support/mail-server.ts';
import { makeSmallDisk } from '../support/small-disk.ts';
import { EMBEDDED_FAULTS, renderFaultTable } from './fault-table.ts';
import { type Switch, startWorld, tryFault } from './fault-world.ts';

t.setTimeout(900_000);
t.jobs = 3;

const MIB = 1_048_576;

/** A program whose threads take orders by files in the folder. */
const startWithOrders = (t: Test, orders: string, settings: object = {}) =>
  startWorld(t, settings, {
    environment: {
      // The samples have a thread of their own, as with a large fleet.
      NODE_OPTIONS: `--max-semi-space-size=16 --import=${new URL('../support/end-thread.ts', import.meta.url).href}`,
      TEST_END_THREADS: orders,
    },
  });

t.test('threads that hang', { buffered: true }, async (t) => {
  const orders = t.testdir();
  const world = await startWithOrders(t, orders);
  /** A thread that hangs. */
  const hang = (entry: string): Switch => {
    const order = join(orders, entry);
    return {
      async begin() {
        writeFileSync(order, 'hang');
        await until(() => readFileSync(order, 'utf8') === 'hangs', 60_000);
      },
      // A probe thread is replaced, and takes the order with it.
      end: () => rmSync(order, { force: true }),
    };
  };
  /** Threads that stand still three quarters of the time. */
  const slowDown = (...entries: readonly string[]): Switch => {
    const all = entries.map((entry) => join(orders, entry));
    return {
      begin: () => all.forEach((order) => void writeFileSync(order, 'slow')),
      end: () => all.forEach((order) => void rmSync(order)),
    };
  };
  await tryFault(t, world, EMBEDDED_FAULTS.registry, hang('registry.ts'));
  await tryFault(t, world, EMBEDDED_FAULTS.samples, hang('samples.ts'));
  await tryFault(t, world, EMBEDDED_FAULTS.probe, hang('worker.js'));
  await tryFault(t, world, EMBEDDED_FAULTS.feeds, hang('feeds.ts'));
  await tryFault(t, world, EMBEDDED_FAULTS.render, hang('render.ts'));
  const threads = ['registry.ts', 'samples.ts', 'worker.js', 'feeds.ts', 'render.ts'];
  await tryFault(t, world, EMBEDDED_FAULTS.slow, slowDown(...threads));
});

t.test('threads that end, and the mail server', { buffered: true }, async (t) => {
  const orders = t.testdir();
  let hangs = false;
  const mail = await startMailServer({ tls: 'none', onLetter: () => (hangs ? 'hang' : null) });
  t.teardown(() => mail.close());
  const smtp = { host: '127.0.0.1', port: mail.port, tls: 'none', from: 'Upbeat <upbeat@example.org>' };
  const world = await startWithOrders(t, orders, { alerts: { smtp } });
  /** A thread that ends by a fault; `said`: what the log says then. */
  const endThread = (entry: string, said: RegExp): Switch => ({
    async begin() {
      const before = world.output().length;
      writeFileSync(join(orders, entry), 'end');
      await until(() => said.test(world.output().slice(before)), 60_000);
    },
    end() {},
  });
  await tryFault(t, world, EMBEDDED_FAULTS.probeEnds, endThread('worker.js', /a probe thread is replaced/));
  await tryFault(t, world, EMBEDDED_FAULTS.feedsEnd, endThread('feeds.ts', /the feed thread ended/));
  await tryFault(t, world, EMBEDDED_FAULTS.renderEnds, endThread('render.ts', /the render thread ended/));
  await tryFault(t, world, EMBEDDED_FAULTS.registryEnds, endThread('registry.ts', /starting again in/));
  await tryFault(t, world, EMBEDDED_FAULTS.samplesEnd, endThread('samples.ts', /starting again in/));
  await tryFault(t, world, EMBEDDED_FAULTS.mail, {
    async begin() {
      hangs = true;
      const topic = 'service:1';
      await world.installation.withRegistry((registry) =>
        registry.requestSubscription({ topic, address: 'ada@example.org', language: 'en', now: Date.now() }),
      );
    },
    end() {
      hangs = false;
    },
  });
});

t.test('the disk', { buffered: true }, async (t) => {
  const dataDir = join(t.testdir(), 'data');
  const disk = await makeSmallDisk(t, dataDir, 8 * MIB);
  if (disk === null) {
    t.comment('SKIPPED: no namespace of mounts can be made here');
    return;
  }
  const world = await startWorld(t, { storage: { dataDir } }, { enter: disk.enter });
  await tryFault(t, world, EMBEDDED_FAULTS.disk, { begin: disk.fill, end: disk.empty });
});

t.test('the table of docs/reliability.md is the one that is tried', async (t) => {
  const document = readFileSync(new URL('../../docs/reliability.md', import.meta.url), 'utf8');
  t.ok(document.includes(renderFaultTable()), `the table should be\n${renderFaultTable()}`);
});
