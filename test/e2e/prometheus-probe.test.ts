/** A real Prometheus probes targets by `/probe`, with the relabelling that configurations for blackbox_exporter have. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { createApiKey } from '../../src/auth/api-keys.ts';
import { freePort } from '../support/free-port.ts';
import { hasProgram } from '../support/install-servers.ts';
import { listenOn } from '../support/loopback.ts';
import { install } from '../support/program.ts';

const NEEDS_PROMETHEUS = hasProgram('prometheus')
  ? {}
  : { skip: 'prometheus is not there: apt-get install prometheus' };
const PATIENCE_MS = 60_000;

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

t.test('Prometheus reads what its targets are like', { ...NEEDS_PROMETHEUS, timeout: 180_000 }, async (t) => {
  const site = await listenOn(
    createServer(({ url }, response) => response.writeHead(url === '/down' ? 500 : 200).end('hello')),
  );
  t.teardown(site.close);
  const target = `127.0.0.1:${site.port}`;
  const installation = await install([], { checks: { trustedPrivate: ['127.0.0.0/8'] } });
  t.teardown(() => installation.remove());
  const program = await installation.start();
  t.teardown(() => program.killHard());
  const key = await installation.withRegistry(async (registry) => {
    const now = Date.now();
    const order = { account: 'ops', name: 'prometheus', expiresAt: null, now, scopes: ['write'] as const };
    const made = await createApiKey(registry, order);
    await registry.trustAccount(made.record.accountId, 'command:test', now);
    return made.key;
  });

  const port = await freePort();
  const job = (name: string, module: string, targets: readonly string[], signIn: object) => ({
    job_name: name,
    metrics_path: '/probe',
    params: { module: [module] },
    static_configs: [{ targets }],
    ...signIn,
    relabel_configs: [
      { source_labels: ['__address__'], target_label: '__param_target' },
      { source_labels: ['__param_target'], target_label: 'instance' },
      { target_label: '__address__', replacement: new URL(installation.siteUrl).host },
    ],
  });
  const file = join(installation.folder, 'prometheus.yml');
  writeFileSync(
    file,
    stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [
        job('web', 'http_2xx', [`http://${target}/`, `${target}/down`], {
          authorization: { credentials: key },
        }),
        job('ports', 'tcp_connect', [target], { basic_auth: { username: 'upbeat', password: key } }),
        job('wrong', 'http_2xx', [target], {}),
      ],
    }),
  );
  const prometheus = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(installation.folder, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(prometheus, 'exit');
  t.teardown(async () => {
    prometheus.kill('SIGKILL');
    await ended;
  });

  const query = async (expression: string): Promise<Record<string, string>> => {
    const response = await fetch(
      `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`,
    );
    const { data } = (await response.json()) as { readonly data: { readonly result: readonly Sample[] } };
    return Object.fromEntries(
      data.result.map(({ metric, value }) => [`${metric.job} ${metric.instance}`, value[1]]),
    );
  };
  const until = async (expression: string, count: number) => {
    const endsAt = performance.now() + PATIENCE_MS;
    let found: Record<string, string> = {};
    while (Object.keys(found).length < count && performance.now() < endsAt) {
      found = await query(expression).catch(() => ({}));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return found;
  };
  t.strictSame(await until('probe_success', 3), {
    [`ports ${target}`]: '1',
    [`web ${target}/down`]: '0',
    [`web http://${target}/`]: '1',
  });
  t.strictSame(await until('probe_http_status_code', 2), {
    [`web ${target}/down`]: '500',
    [`web http://${target}/`]: '200',
  });
  t.strictSame(await until('up{job="wrong"}', 1), { [`wrong ${target}`]: '0' }, 'it has no key');
  const phases = await query('count by (job, instance) (probe_http_duration_seconds)');
  t.equal(phases[`web http://${target}/`], '4');
});
