/**
 * A real InfluxDB 2, which is in no distribution: `UPBEAT_TEST_INFLUXD2` names its program. Without it, suites that need
 * it are left out, and the double in influx-v2-server.ts stands for it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import type { Influx2Permission, Influx2Server } from './influx-v2-server.ts';
import type { Scope } from './run-servers.ts';

/** Path of the program; null: it is not there. */
export const INFLUXD2 = process.env.UPBEAT_TEST_INFLUXD2 ?? null;

const ADMIN_TOKEN = 'the-token-of-the-administrator';
const READY_MS = 60_000;

/** Starts it with the organisation `acme` and data in `folder`; it is ended after the test. `args` go to the program. */
export async function startInflux2(
  scope: Scope,
  folder: string,
  args: readonly string[] = [],
): Promise<Influx2Server> {
  if (INFLUXD2 === null) throw new Error('UPBEAT_TEST_INFLUXD2 is not set');
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    INFLUXD2,
    [
      `--http-bind-address=127.0.0.1:${port}`,
      `--bolt-path=${join(folder, 'bolt')}`,
      `--sqlite-path=${join(folder, 'sqlite')}`,
      `--engine-path=${join(folder, 'engine')}`,
      '--reporting-disabled',
      '--log-level=error',
      ...args,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  scope.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  for (const deadline = performance.now() + READY_MS; ; ) {
    if (child.exitCode !== null) throw new Error(`InfluxDB 2 ended with ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error('InfluxDB 2 does not answer');
    const response = await fetch(`${url}/health`).catch(() => null);
    await response?.arrayBuffer();
    if (response?.ok) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Token ${ADMIN_TOKEN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  };
  const { org } = (await call('POST', '/api/v2/setup', {
    username: 'ada',
    password: 'a-long-password',
    org: 'acme',
    bucket: 'first',
    token: ADMIN_TOKEN,
  })) as unknown as { readonly org: { readonly id: string } };
  const orgID = org.id;
  return {
    url,
    token: ADMIN_TOKEN,
    orgId: orgID,
    async makeBucket(name, everySeconds = 0) {
      const rules = everySeconds === 0 ? [] : [{ type: 'expire', everySeconds }];
      const made = await call('POST', '/api/v2/buckets', { orgID, name, retentionRules: rules });
      return String(made.id);
    },
    async makeToken(permissions: readonly Influx2Permission[]) {
      const made = await call('POST', '/api/v2/authorizations', {
        orgID,
        permissions: permissions.map(({ action, type, id }) => ({
          action,
          resource: { type, orgID, ...(id === undefined ? {} : { id }) },
        })),
      });
      return String(made.token);
    },
    async makeMapping(database, bucketID) {
      const mapping = { orgID, bucketID, database, retention_policy: 'autogen', default: true };
      await call('POST', '/api/v2/dbrps', mapping);
    },
    async listBuckets() {
      const { buckets } = (await call('GET', `/api/v2/buckets?orgID=${orgID}`)) as unknown as {
        readonly buckets: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly retentionRules: readonly { readonly everySeconds: number }[];
        }[];
      };
      return buckets
        .filter(({ type, name }) => type === 'user' && name !== 'first')
        .map(({ id, name, retentionRules }) => ({
          id,
          name,
          everySeconds: retentionRules[0]?.everySeconds ?? 0,
        }));
    },
  };
}
