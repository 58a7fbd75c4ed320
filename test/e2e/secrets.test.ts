/**
 * Every secret of an installation in one run, with its servers away or refusing, and everything that the run leaves: no secret
 * stands in a log line, error, metric, event, page, list, backup, database or command line. The credentials of checks have
 * `credentials.test.ts`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { createSessions } from '../../src/auth/sessions.ts';
import { systemClock } from '../../src/clock.ts';
import { createSiteCookie } from '../../src/http/cookies.ts';
import { freePort } from '../support/free-port.ts';
import { listenOn } from '../support/loopback.ts';
import { install } from '../support/program.ts';

t.setTimeout(180_000);

/** Secrets of the configuration. */
const CONFIGURED = {
  influxUser: 'influx-user-5f0c1d',
  influxPassword: 'influx-pass-91ab7e',
  influxToken: 'influx-token-c27d90',
  smtpPassword: 'smtp-pass-0e4a6b',
  providerSecret: 'provider-secret-7731fd',
  operatorToken: 'tk_operator0token0aa61be42c',
  key: '9f'.repeat(32),
};

/** The command lines of a process and of its children. */
function commandLines(pid: number): string {
  const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return [line, ...children.map((child) => commandLines(Number(child)))].join('\n');
}

/** Everything in a folder, as bytes, but what must hold the key. */
function bytesOf(folder: string): string {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name !== 'secret.key')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

t.test('no secret is found in anything that a run leaves', async (t) => {
  // It refuses everything, and repeats what it was sent.
  const refusing = await listenOn(
    createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () =>
        response.writeHead(401).end(JSON.stringify([request.headers, request.url, body])),
      );
    }),
  );
  t.teardown(refusing.close);
  const closed = await freePort();
  const installation = await install([{ slug: 'known', domain: 'known.example' }], {
    checks: {
      ...{ controlTargets: [`http://127.0.0.1:${closed}/`], interval: '1h' },
      ...{ ownersMayProbePrivate: true, ports: [refusing.port] },
    },
    storage: {
      influx: {
        ...{ url: `http://${CONFIGURED.influxUser}:${CONFIGURED.influxPassword}@127.0.0.1:${refusing.port}` },
        ...{ token: CONFIGURED.influxToken, org: 'upbeat', bucket: 'upbeat' },
      },
    },
    auth: {
      providers: [
        {
          ...{ id: 'company', kind: 'oidc', issuer: `http://127.0.0.1:${refusing.port}` },
          ...{ clientId: 'upbeat', clientSecret: CONFIGURED.providerSecret },
        },
      ],
    },
    alerts: {
      smtp: {
        ...{ host: '127.0.0.1', port: refusing.port, tls: 'none', from: 'upbeat@example.org' },
        ...{ user: 'upbeat', password: CONFIGURED.smtpPassword },
      },
      operator: [
        {
          kind: 'ntfy',
          settings: {
            ...{ server: `http://127.0.0.1:${refusing.port}`, topic: 'upbeat' },
            token: CONFIGURED.operatorToken,
          },
        },
      ],
    },
    secrets: { key: CONFIGURED.key },
    log: { level: 'debug' },
  });
  t.teardown(() => installation.remove());
  const secrets: Record<string, string> = { ...CONFIGURED };
  const seen: string[] = [];
  const run = async (...args: string[]) => {
    const { status, stdout, stderr } = await installation.runHere(...args);
    seen.push(stdout, stderr);
    return { status, stdout, stderr };
  };

  const program = await installation.start();
  t.teardown(() => program.killHard());
  const { siteUrl } = installation;
  const events = new AbortController();
  t.teardown(() => events.abort());
  const listen = async () => {
    const stream = await fetch(`${siteUrl}/api/v1/events`, { signal: events.signal });
    for await (const chunk of stream.body ?? []) seen.push(Buffer.from(chunk).toString());
  };
  listen().catch(() => {});

  // The secrets that the program gives out, each shown once.
  const once = (...args: string[]) => installation.runHere(...args);
  const account = ['--account', 'ada'];
  secrets.apiKey = (
    await once(
      'keys',
      'create',
      ...account,
      '--name',
      'ci',
      ...['read', 'heartbeat', 'write'].flatMap((scope) => ['--scope', scope]),
    )
  ).stdout.trim();
  secrets.revokedKey = (await once('keys', 'create', ...account, '--name', 'old')).stdout.trim();
  secrets.setupLink =
    /setup\/([\w-]{43})/.exec((await once('accounts', 'setup-link', ...account)).stdout)?.[1] ?? '';
  const call = async (
    method: string,
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ) => {
    const isText = typeof body === 'string';
    const response = await fetch(siteUrl + path, {
      ...{ method, redirect: 'manual' },
      headers: {
        ...(body === undefined || isText ? {} : { 'content-type': 'application/json' }),
        ...{ authorization: `Bearer ${secrets.apiKey}` },
        ...headers,
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const { status, text, headers: received } = await call('GET', path, undefined, headers);
    seen.push(text, JSON.stringify([...received]));
    return { status, text };
  };

  const service = await call('POST', '/api/v1/heartbeat', { domain: 'shop.example.org', status: 'ok' });
  seen.push(service.text);
  const slug = 'shop-example-org';
  const address = await call('POST', `/api/v1/services/${slug}/address`);
  secrets.beat = /\/beat\/([\w-]{20,})/.exec(address.text)?.[1] ?? '';
  const webhook = await call('POST', '/api/v1/webhooks', { url: `http://127.0.0.1:${refusing.port}/hook` });
  secrets.webhook = /"secret":"(whsec_[^"]+)"/.exec(webhook.text)?.[1] ?? '';
  secrets.channel = 'AbCdEf9hIjKlMnO';
  const channel = await call('POST', '/api/v1/channels', {
    ...{ name: 'Ops', kind: 'gotify' },
    settings: { server: `http://127.0.0.1:${refusing.port}`, token: secrets.channel },
  });
  seen.push(channel.text);
  t.equal(channel.status, 201, channel.text);
  await installation.withRegistry(async (registry) => {
    const { id } = await registry.ensureAccount('ada', Date.now());
    const person = await registry.linkIdentity(
      id,
      { provider: 'x', subject: 'ada', name: 'ada' },
      Date.now(),
    );
    const { token } = await createSessions({ registry, clock: systemClock }).open(person.id);
    secrets.session = token;
  });
  secrets.password = 'typed-password-4d2f60';
  for (const [name, value] of Object.entries(secrets)) t.ok(value.length > 10, `there is a secret ${name}`);

  // Used rightly and wrongly.
  seen.push((await call('GET', `/beat/${secrets.beat}`)).text);
  seen.push((await call('POST', `/beat/${secrets.beat}`, 'x'.repeat(100_000))).text);
  seen.push((await call('GET', `/beat/${secrets.beat}x`)).text);
  seen.push((await call('POST', '/api/v1/heartbeat', { domain: 'a.example', status: 'ok' })).text);
  await run('keys', 'revoke', '2', ...account);
  for (const authorization of [
    `Bearer ${secrets.revokedKey}`,
    `Bearer ${secrets.apiKey}x`,
    `Basic ${secrets.apiKey}`,
  ])
    await read('/api/v1/keys', { authorization });
  await read(`/api/v1/services?key=${secrets.apiKey}`).then(({ text }) => seen.splice(seen.indexOf(text), 1));
  const form = new URLSearchParams({ name: 'ada', password: secrets.password ?? '', code: '123456' });
  seen.push(
    (
      await call('POST', '/sign-in', String(form), {
        'content-type': 'application/x-www-form-urlencoded',
        origin: siteUrl,
      })
    ).text,
  );
  await read('/sign-in/company');
  await call('POST', '/api/v1/channels/1/test');
  await program.until<{ degraded: string[] }>('/readyz', ({ degraded }) => degraded.includes('influx'));
  const cookie = `${createSiteCookie(siteUrl).name}=${secrets.session}`;
  for (const path of [
    ...['/', '/readyz', '/metrics?services=1', '/api/v1/keys', '/api/v1/webhooks', '/api/v1/channels'],
    ...['/api/v1/channels/1', '/api/v1/channels/1/messages', '/api/v1/services', `/api/v1/services/${slug}`],
    ...[`/api/v1/services/${slug}/history`, '/api/v1/openapi.json', '/none', `/status/${slug}`],
  ])
    await read(path);
  for (const path of [
    '',
    '/account',
    '/webhooks',
    '/channels',
    '/channels/1',
    `/services/${slug}`,
    '/members',
  ])
    await read(`/dashboard${path}`, { cookie });

  // What the operator asks for.
  await run('doctor', '--json');
  await run('start', '--check-config');
  for (const list of ['keys', 'channels', 'services', 'accounts']) await run(list, 'list', '--json');
  await run('export', ...account);
  const backup = join(installation.folder, 'backup');
  t.match(await run('backup', backup), { status: 0 });
  const processes = commandLines(program.process.pid ?? 0);
  t.equal(await program.stop(), 0);

  const everything = [
    ['the log', program.output(), 'the catalogue is loaded'],
    ['pages, API, events and commands', seen.join('\n'), slug],
    ['the command lines', processes, 'upbeat.yaml'],
    ['the data directory', bytesOf(join(installation.folder, 'data')), 'SQLite'],
    ['the backup', bytesOf(backup), 'SQLite'],
  ] as const;
  for (const [where, text, written] of everything) {
    t.ok(text.includes(written), `${where} has what was written`);
    for (const [name, secret] of Object.entries(secrets)) {
      const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').slice(0, -4)];
      t.notOk(
        forms.some((form) => text.includes(form)),
        `${where}: ${name}`,
      );
    }
  }
});
