/** What becomes of a database of Uptime Kuma in an installation. */
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../../src/clock.ts';
import { hashAddressSecret } from '../../../src/domain/heartbeat/heartbeat-rules.ts';
import { silentLog } from '../../../src/log.ts';
import { openRegistry } from '../../../src/store/registry/open-registry.ts';
import { install } from '../../support/program.ts';
import { createKumaDatabase } from '../kuma-databases.ts';
import { runCommandHere } from '../run-command.ts';
import { fill, TOKEN } from './kuma-household.ts';

t.test('it imports once what has an equal, as apply would, and says the rest', async (t) => {
  const { file, database, insert } = createKumaDatabase(
    t.testdir({ upload: { 'logo1.png': 'no picture' } }),
    2,
  );
  fill(insert);
  insert('monitor', { id: 30, name: 'job.example.com', type: 'push', push_token: TOKEN, interval: 60 });
  insert('monitor', { id: 31, name: 'short.example.com', type: 'push', push_token: 'abc', interval: 60 });
  insert('monitor_group', { monitor_id: 30, group_id: 1 });
  insert('monitor_notification', { monitor_id: 30, notification_id: 2 });
  database.exec("UPDATE monitor SET name = 'backup.example.com' WHERE id = 4");
  database.exec("UPDATE monitor SET name = 'other.example.com' WHERE id = 5");
  database.exec("UPDATE status_page SET icon = 'data:/upload/logo1.png'");
  database.close();
  const installation = await install([]);
  t.teardown(() => installation.remove());
  const run = (...args: readonly string[]) =>
    runCommandHere([...args, '--account', 'ada', '--config', join(installation.folder, 'upbeat.yaml')]);

  const planned = await run('services', 'import', file, '--dry-run');
  t.match(
    planned.stdout,
    /lists 7 services, 3 channels, 4 rules, 2 pages, 1 maintenance, 2 without an equal\n/,
  );
  for (const line of ['+ service shop.example.com', '+ page our-home', '+ channel Phone'])
    t.ok(planned.stdout.includes(`${line}\n`), line);
  t.match(planned.stdout, /6 to add, 4 left out\n/);
  t.notMatch(planned.stdout + planned.stderr, /123456:ABC|s3cret/, 'no secret is shown');
  const nothing = await runCommandHere([
    'accounts',
    'list',
    '--json',
    '--config',
    join(installation.folder, 'upbeat.yaml'),
  ]);
  t.notMatch(nothing.stdout, /ada/, 'a dry run makes no account');

  const made = await run('services', 'import', file, '--json');
  const outcome = JSON.parse(made.stdout);
  t.same(outcome.added.toSorted(), [
    ...[
      'api-example-com',
      'backup-example-com',
      'job-example-com',
      'other-example-com',
      'shop-example-com',
      'short-example-com',
    ],
  ]);
  t.same(outcome.created.map(({ type, key }: { type: string; key: string }) => `${type} ${key}`).toSorted(), [
    ...['channel Mail', 'channel Mail (2)', 'channel Phone', 'maintenance Disks', 'page our-home'],
    ...['page uptime-kuma-groups', 'rule Mail', 'rule Phone', 'rule Phone (2)'],
  ]);
  t.match(
    outcome.skipped.map(({ entry, reason }: { entry: string; reason: string }) => `${entry}: ${reason}`),
    [
      'Game: monitors of type gamedig have no equal here',
      'Bark: notifications of type "Bark" have no equal here',
      'NAS: domain "192.168.1.5" must not be an IP address',
      'Phone (3): nothing that it is about is imported',
    ],
  );
  const lost = outcome.not_carried.map(
    ({ entry, field, reason }: Record<string, string>) => `${field} of ${entry}: ${reason}`,
  );
  t.match(
    lost.find((line: string) => line.startsWith('logo of our-home: ')),
    /picture|PNG/,
  );
  t.ok(lost.includes('pushToken of job.example.com: another service has it'));
  t.ok(lost.includes('pushToken of short.example.com: it is so short that it could be guessed'));

  const again = JSON.parse((await run('services', 'import', file, '--json')).stdout);
  t.match(again, { added: [], created: [], unchanged: { length: 6 } }, 'what is there stays as it is');

  const registry = await openRegistry({
    dataDir: join(installation.folder, 'data'),
    clock: systemClock,
    log: silentLog,
  });
  const states = await registry.loadServices();
  const hashes = Object.fromEntries(states.map(({ service }) => [service.slug, service.check.addressHash]));
  await registry.close();
  t.match(hashes, {
    'backup-example-com': hashAddressSecret(TOKEN),
    'other-example-com': hashAddressSecret('another-token-of-32-characters-xx'),
    'job-example-com': undefined,
    'short-example-com': undefined,
  });
  const config = join(installation.folder, 'upbeat.yaml');
  t.match(await runCommandHere(['accounts', 'trust', 'ada', '--config', config]), { status: 0 });
  const home = JSON.parse((await run('services', 'import', file, '--json')).stdout);
  t.match(
    home,
    { added: ['192-168-1-5'], created: [{ type: 'rule', key: 'Phone (3)' }] },
    'a trusted account has a NAS',
  );
  const exported = await runCommandHere([
    'export',
    '--account',
    'ada',
    '--config',
    join(installation.folder, 'upbeat.yaml'),
  ]);
  t.match(exported.stdout, /name: Phone\n +services:\n +- shop\.example\.com/);
});

t.test('it gives several monitors of one host a service each, which rules and pages name', async (t) => {
  const { file, database, insert } = createKumaDatabase(t.testdir(), 2);
  insert(
    'monitor',
    { id: 1, name: 'Site', type: 'http', url: 'https://shop.example.com/' },
    { id: 2, name: 'API', type: 'http', url: 'https://shop.example.com/api' },
    { id: 3, name: 'Port', type: 'port', hostname: 'shop.example.com', port: 443 },
  );
  insert('status_page', { id: 1, slug: 'shop', title: 'Shop', icon: '/icon.svg', theme: 'auto' });
  insert('group', { id: 1, name: 'All', public: 1, status_page_id: 1 });
  insert('monitor_group', { monitor_id: 3, group_id: 1 }, { monitor_id: 2, group_id: 1 });
  database.close();
  const installation = await install([]);
  t.teardown(() => installation.remove());
  const run = (...args: readonly string[]) =>
    runCommandHere([
      ...args,
      '--account',
      'ada',
      '--json',
      '--config',
      join(installation.folder, 'upbeat.yaml'),
    ]);
  const planned = JSON.parse((await run('services', 'import', file, '--dry-run')).stdout);
  t.match(planned, {
    skipped: [],
    created: [
      ...['shop.example.com', 'shop-example-com-api', 'shop-example-com-port'].map((key) => ({
        type: 'service',
        key,
      })),
      { type: 'page', key: 'shop' },
    ],
  });
  t.match(JSON.parse((await run('services', 'import', file)).stdout), {
    added: ['shop-example-com', 'shop-example-com-api', 'shop-example-com-port'],
    created: [{ type: 'page', key: 'shop' }],
    skipped: [],
  });
});
