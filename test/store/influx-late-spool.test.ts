/** The spool of a store that is opened while its disk is full. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { makeSmallDisk } from '../support/small-disk.ts';

t.setTimeout(60_000);

t.test('it opens on a full disk, refuses lines, and keeps those from before', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-spool-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'data');
  const disk = await makeSmallDisk(t, dataDir, 4 * 1_048_576);
  if (disk === null) return t.comment('SKIPPED: no namespace of mounts can be made here');
  const [command = '', ...words] = disk.enter;
  const script = join(import.meta.dirname, 'influx-late-spool-steps.ts');
  const begin = () => {
    const child = spawn(command, [...words, process.execPath, script, dataDir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async (step: string): Promise<string> => {
      child.stdin.write(`${step}\n`);
      return String((await answers.next()).value);
    };
    const end = async () => {
      child.stdin.end();
      await answers.next();
    };
    return { ask, end };
  };

  const first = begin();
  t.equal(await first.ask('open'), 'ok 0');
  t.equal(await first.ask('put before'), 'ok 1');
  await first.end();

  disk.fill();
  const second = begin();
  t.equal(await second.ask('open'), 'ok 0');
  t.match(await second.ask('put meanwhile'), /^refused: /);
  t.match(await second.ask('first'), /^refused: /);
  disk.empty();
  t.equal(await second.ask('first'), 'before 1');
  t.equal(await second.ask('put after'), 'ok 2');
  t.equal(await second.ask('first'), 'before,after 2');
  await second.end();
});
