/** The program with the public list in the memory of a small container; the long trial is `npm run soak -- memory`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

import { makeMemoryCgroup } from '../support/memory-cgroup.ts';
import { install } from '../support/program.ts';
import { AS_SHIPPED } from '../support/quick-programs.ts';
import { workerOf } from '../support/stall.ts';

const MIB = 1_048_576;
const LIMIT_MIB = 220;

t.setTimeout(240_000);
const group = makeMemoryCgroup(LIMIT_MIB * MIB);

t.test(
  `it starts and serves in ${LIMIT_MIB} MiB with the public list, compiled for the first time`,
  typeof group === 'string' ? { skip: group } : {},
  async (t) => {
    if (typeof group === 'string') return;
    const installation = await install(
      [],
      {
        catalogue: { file: join(import.meta.dirname, '../../config/catalogue.yaml') },
        // No name is found: nothing leaves the machine.
        checks: { interval: '5m', firstSpread: '5s', nameservers: ['127.0.0.1:9'] },
      },
      // An empty folder for compiled sources.
      { ...AS_SHIPPED, TMPDIR: t.testdir() },
      group.enter,
    );
    const program = await installation.start();
    t.teardown(async () => {
      await program.stop();
      group.remove();
      installation.remove();
    });
    for (const path of ['/', '/status/github', '/api/badge/github', '/api/chart/github'])
      t.equal((await program.get(path)).status, 200, path);
    // The first heat map may take longer than a client waits.
    t.match(String((await program.get('/api/heatmap.png')).status), /^(?:200|503)$/, 'a heat map');
    t.notMatch(program.output(), /starting again/, 'it was not killed');
    const { heldBytes } = group.usage();
    t.ok(heldBytes < 0.9 * LIMIT_MIB * MIB, `${Math.round(heldBytes / MIB)} MiB are held`);
  },
);

t.test(
  'it has small heaps for a small fleet, and large ones after a start with a large fleet',
  process.platform === 'linux' ? {} : { skip: 'needs /proc' },
  async (t) => {
    const list = (count: number) =>
      Array.from({ length: count }, (_, n) => ({
        slug: `s${n}`,
        check: { kind: 'root', url: 'http://127.0.0.1:9/' },
      }));
    const settings = { checks: { interval: '1h', firstSpread: '1h' } };
    const installation = await install(list(3), settings, AS_SHIPPED);
    t.teardown(() => installation.remove());
    for (const [count, isSmall] of [
      [3, true],
      [5_001, false],
    ] as const) {
      installation.writeCatalogue(list(count));
      const program = await installation.start();
      const pid = workerOf(program.process);
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      t.ok(
        command.some((word) => /\/cli\/program\.[cm]?[jt]s$/.test(word)),
        'the process of the program',
      );
      t.equal(command.includes('--max-semi-space-size=1'), isSmall, `${count} services`);
      await program.stop();
    }
  },
);
