/** The kernel ends the whole program because the machine has no memory left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { type MemoryCgroup, makeMemoryCgroup } from '../support/memory-cgroup.ts';
import { install, type RunningProgram } from '../support/program.ts';
import { workerOf } from '../support/stall.ts';

const LIMIT_BYTES = 512 * 1_048_576;
const SENDERS = 4;

t.setTimeout(180_000);
const group = makeMemoryCgroup(LIMIT_BYTES);

t.test(
  'a program that is ended because memory is exhausted starts again, with everything that it acknowledged',
  typeof group === 'string' ? { skip: group } : {},
  async (t) => {
    if (typeof group === 'string') return;
    const installation = await install([], {}, {}, group.enter);
    const program = await installation.start();
    t.teardown(async () => {
      await program.stop();
      group.remove();
      installation.remove();
    });
    const key = await installation.makeKey('ada');
    const sending = startSenders(program, key);
    await pause(1_000);
    // Of all in the group, the kernel ends the program first.
    writeFileSync(`/proc/${workerOf(program.process)}/oom_score_adj`, '1000');
    const eater = startEater(group);
    t.teardown(() => eater.kill('SIGKILL'));
    while (!/ended by SIGKILL; starting again/.test(program.output())) await pause(50);
    eater.kill('SIGKILL');
    const acknowledged = await sending.end();
    await program.until<{ status: string }>('/readyz', ({ status }) => status === 'ready');
    for (const [sender, latency] of acknowledged.entries()) {
      t.ok(latency > 0, `sender ${sender} was answered`);
      const { status, body } = await program.get(`/api/v1/status/sender-${sender}-example`);
      t.equal(status, 200);
      const { response_time: stored } = body as { response_time: number };
      // One that was stored, but not answered, may be newer.
      t.ok(stored >= latency, `${stored} is stored, ${latency} was acknowledged`);
    }
    t.equal(await send(program, key, 0, 1), true, 'and it takes heartbeats again');
  },
);

/** Sends heartbeats one after the other, each with a latency larger by one, until `end`: the last ones that were acknowledged. */
function startSenders(program: RunningProgram, key: string) {
  let isOver = false;
  const running = Array.from({ length: SENDERS }, async (_, sender) => {
    let acknowledged = 0;
    for (let latency = 1; !isOver; latency++) {
      const isTaken = await send(program, key, sender, latency).catch(() => false);
      if (isTaken) acknowledged = latency;
      else await pause(10);
    }
    return acknowledged;
  });
  return {
    end: () => {
      isOver = true;
      return Promise.all(running);
    },
  };
}

async function send(program: RunningProgram, key: string, sender: number, latency: number): Promise<boolean> {
  const { status } = await fetch(`${program.siteUrl}/api/v1/heartbeat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ domain: `sender-${sender}.example`, status: 'ok' },
      checks: { database: { status: 'ok', latency } },
    }),
  });
  return status === 200;
}

/** Takes the memory of the group piece by piece. */
function startEater({ enter }: MemoryCgroup): ChildProcess {
  const [command = '', ...words] = enter;
  const script = `
    const held = [];
    setInterval(() => held.push(Buffer.alloc(4_194_304, 1)), 20);`;
  return spawn(command, [...words, process.execPath, '--eval', script], { stdio: 'ignore' });
}
