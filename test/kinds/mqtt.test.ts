/** Checks of MQTT brokers against Mosquitto, and doubles that refuse. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openProbe } from '../probe/try-probe.ts';
import { CERTIFICATE_FOLDER } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { installServers } from '../support/install-servers.ts';
import { listenRaw } from '../support/loopback.ts';
import { sealed } from './sealed.ts';

const GOOD = { answered: true, statusCode: 0, failure: null, via: 'mqtt', suspect: null, blocked: false };
const content = (detail: string) => ({ answered: true, failure: { class: 'content', detail } });

const isMissing = (await installServers(['mosquitto'])).length > 0;
const NEEDS_MOSQUITTO = isMissing ? { skip: 'Mosquitto is not there: apt-get install mosquitto' } : {};

/** Starts Mosquitto with a port for everybody, one by TLS, and one for the user ada. */
async function startMosquitto(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-mosquitto-'));
  chmodSync(folder, 0o755);
  const [open, tls, closed] = [await freePort(), await freePort(), await freePort()];
  const passwords = join(folder, 'passwords');
  spawnSync('mosquitto_passwd', ['-c', '-b', passwords, 'ada', 'hunter2']);
  chmodSync(passwords, 0o644);
  const lines = [
    ...['per_listener_settings true', 'user root', `listener ${open} 127.0.0.1`, 'allow_anonymous true'],
    ...[
      `listener ${tls} 127.0.0.1`,
      'allow_anonymous true',
      `certfile ${join(CERTIFICATE_FOLDER, 'localhost.pem')}`,
    ],
    ...[`keyfile ${join(CERTIFICATE_FOLDER, 'localhost-key.pem')}`, `listener ${closed} 127.0.0.1`],
    ...['allow_anonymous false', `password_file ${passwords}`],
  ];
  writeFileSync(join(folder, 'config'), `${lines.join('\n')}\n`);
  const server = spawn('mosquitto', ['-c', join(folder, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  t.teardown(async () => {
    if (server.exitCode === null) {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });
  while (!/mosquitto version \S+ running/.test(log)) {
    if (server.exitCode !== null) throw new Error(log);
    await Promise.race([once(server.stderr, 'data'), once(server, 'exit')]);
  }
  return { open, tls, closed };
}

/** Publishes a message that the broker keeps for its topic. */
async function publish(port: number, topic: string, text: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const part = (word: string) => Buffer.concat([Buffer.from([0, word.length]), Buffer.from(word)]);
  const packet = (head: number, ...parts: readonly Buffer[]) => {
    const body = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([head, body.length]), body]);
  };
  socket.write(packet(0x10, part('MQTT'), Buffer.from([4, 2, 0, 60]), part('test')));
  await once(socket, 'data');
  // With QoS 1, which the broker confirms.
  socket.write(packet(0x33, part(topic), Buffer.from([0, 7]), Buffer.from(text)));
  await once(socket, 'data');
  socket.destroy();
}

t.test('it connects to Mosquitto, and reads a message of a topic', NEEDS_MOSQUITTO, async (t) => {
  const { open, tls, closed } = await startMosquitto(t);
  const probe = openProbe(t);
  const mqtt = (settings: object) => ({
    check: { kind: 'mqtt', settings: { port: open, ...settings } } as const,
  });
  t.match(await probe(null, mqtt({})), { ...GOOD, certificateExpiresAt: null });
  t.match(await probe(null, mqtt({ port: tls, security: 'tls' })), { ...GOOD, certificateExpiresAt: Number });
  t.match(await probe(null, mqtt({ topic: 'house/#' })), GOOD);
  await publish(open, 'house/door', 'closed since 10:00');
  t.match(await probe(null, mqtt({ topic: 'house/#', contains: 'closed' })), GOOD);
  t.match(await probe(null, mqtt({ topic: 'house/+', matches: '^closed' })), GOOD);
  t.match(
    await probe(null, mqtt({ topic: 'house/door', contains: 'open' })),
    content('the first message does not contain "open"'),
  );
  t.match(await probe(null, { ...mqtt({ topic: 'garden', contains: 'a' }), timeoutMs: 300 }), {
    answered: true,
    failure: { class: 'timeout' },
  });
  t.match(await probe(null, mqtt({ port: closed })), GOOD, 'it asks for a sign-in, so it works');
  const { probe: reads, check } = sealed(t, 'mqtt', { port: closed, topic: 'house' }, `mqtt+plain:${closed}`);
  t.match(await reads(null, check({ username: 'ada', password: 'hunter2' })), GOOD);
  t.match(
    await reads(null, check({ username: 'ada', password: 'hunter3' })),
    content('the server refuses the sign-in (5 not authorized)'),
  );
});

t.test('it knows why a broker refuses', async (t) => {
  const probe = openProbe(t);
  const rows = [
    ['\x20\x02\0\x03', content('the server answers with an error: 3 server unavailable')],
    ['\x20\x02\0\x05', GOOD],
    ['\x20\x7f\0\0', { failure: { class: 'protocol' } }],
    ['\x20\x02\0\0\x90\x03\0\x01\x80', content('the broker refuses the topic "a"'), { topic: 'a' }],
  ] as const;
  for (const [answer, expected, settings = {}] of rows) {
    const { port, close } = await listenRaw(
      (socket) => void socket.once('data', () => socket.write(answer, 'latin1')),
    );
    t.teardown(close);
    t.match(
      await probe(null, { check: { kind: 'mqtt', settings: { port, ...settings } }, timeoutMs: 1_000 }),
      expected,
      JSON.stringify(answer),
    );
  }
});
