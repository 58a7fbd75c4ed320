/** Settings by variables of the environment. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { SETTINGS } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/load-config.ts';

const fromText = (text: string, env: Record<string, string> = {}) =>
  loadConfig({
    file: 'test.yaml',
    env,
    readFile: (path) => (path === 'test.yaml' ? text : readFileSync(path, 'utf8')),
  });

t.test('it names the variable where the environment is wrong', async (t) => {
  t.throws(
    () =>
      fromText('log: { level: info }', {
        UPBEAT_HTTP_PROT: '1',
        UPBEAT_HTTP_PORT: 'eighty',
        UPBEAT_HTTP_HOST: '',
        UPBEAT_LOG_LEVEL: 'loud',
        UPBEAT_CHECKS_PORTS: '80,0',
      }),
    {
      message: [
        'UPBEAT_HTTP_PROT: is not a setting; did you mean UPBEAT_HTTP_PORT?',
        'checks.ports[1]: 0 is not a whole number from 1 to 65535 (UPBEAT_CHECKS_PORTS)',
        'http.host: must not be empty; write a host name or an address, without a port (UPBEAT_HTTP_HOST)',
        'http.port: "eighty" is not a whole number from 0 to 65535 (UPBEAT_HTTP_PORT)',
        'log.level: "loud" is not one of silent, error, warn, info, debug (UPBEAT_LOG_LEVEL)',
      ].join('\n'),
    },
  );
  t.throws(() => fromText('', { UPBEAT_HTTP_HOST: 'a', UPBEAT_HTTP_HOST_FILE: '/x' }), {
    message: 'UPBEAT_HTTP_HOST_FILE: stands beside UPBEAT_HTTP_HOST; set only one of them',
  });
  t.throws(() => fromText('', { UPBEAT_STORAGE_INFLUX_TOKEN_FILE: '/nowhere/at/all' }), {
    message: /^UPBEAT_STORAGE_INFLUX_TOKEN_FILE: cannot be read: ENOENT/,
  });
});

t.test("it takes Kubernetes' links to Services for no settings", async (t) => {
  const links = (service: string) => ({
    [`${service}_SERVICE_HOST`]: '10.0.0.1',
    [`${service}_SERVICE_PORT`]: '80',
    [`${service}_SERVICE_PORT_HTTP`]: '80',
    [`${service}_PORT`]: 'tcp://10.0.0.1:80',
    [`${service}_PORT_80_TCP`]: 'tcp://10.0.0.1:80',
    [`${service}_PORT_80_TCP_PROTO`]: 'tcp',
    [`${service}_PORT_80_TCP_PORT`]: '80',
    [`${service}_PORT_80_TCP_ADDR`]: '10.0.0.1',
  });
  const env = { ...links('UPBEAT'), ...links('UPBEAT_REDIS'), ...links('UPBEAT_HTTP') };
  t.equal(fromText('', env).http.port, 8_080);
  t.equal(fromText('', { ...env, UPBEAT_HTTP_PORT: '81' }).http.port, 81);
  t.throws(() => fromText('', { UPBEAT_PORT: 'tcp://10.0.0.1:80' }), {
    message: /^UPBEAT_PORT: is not a setting/,
  });
  t.throws(() => fromText('', { ...env, UPBEAT_PROT: '1' }), { message: /^UPBEAT_PROT: is not a setting/ });
});

t.test('it gives every setting a variable of its own', async (t) => {
  t.equal(new Set(SETTINGS.map(({ variable }) => variable)).size, SETTINGS.length);
  t.match(
    SETTINGS.map(({ variable }) => variable),
    { 0: 'UPBEAT_HTTP_HOST', 2: 'UPBEAT_HTTP_SITEURL' },
  );
  t.ok(SETTINGS.some(({ variable }) => variable === 'UPBEAT_STORAGE_REDIS_URL'));
});
