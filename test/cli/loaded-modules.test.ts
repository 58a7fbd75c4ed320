/** What each process and each thread loads: modules are most of the CPU time that a start and a command take. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { install } from '../support/program.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The packages that read arguments and the configuration. */
const OF_CONFIGURATION = /^(?:ajv|fast-|json-schema-|ipaddr|commander|js-yaml)/;
const LOGGED = ['--import', join(ROOT, 'test/support/log-modules.mjs')];

/** The packages and the number of modules of each thread of the logged processes; threads by the file of their entry. */
function loadedBy(file: string) {
  const threads = new Map<string, string[]>();
  for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
    const [process = '', thread = '', address = ''] = line.split(' ');
    const key = `${process} ${thread}`;
    threads.set(key, [...(threads.get(key) ?? []), address]);
  }
  return [...threads].map(([key, addresses]) => {
    const files = addresses.filter((address) => !address.startsWith('node:'));
    const packages = files.flatMap(
      (address) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(address)?.[1] ?? [],
    );
    const own = files.filter((address) => !/\/node_modules\/|log-modules/.test(address));
    return {
      isMain: key.endsWith(' 0'),
      entry: own[0]?.slice(own[0].indexOf(ROOT) + ROOT.length + 1),
      packages: [...new Set(packages)].sort(),
      modules: files.length,
      ofClusters: own.filter((address) => address.includes('/src/cluster/')),
    };
  });
}

t.test('it loads for each command and each thread what that needs, and no more', async (t) => {
  const folder = t.testdir();
  const installation = await install([{ slug: 'one', check: { kind: 'root', url: 'http://127.0.0.1:9/' } }]);
  t.teardown(() => installation.remove());
  const config = join(installation.folder, 'upbeat.yaml');
  const environment = (name: string) => ({ ...process.env, LOADED_MODULES: join(folder, name) });

  const list = spawnSync(
    process.execPath,
    [...LOGGED, 'src/cli/main.ts', 'keys', 'list', '--config', config],
    { cwd: ROOT, encoding: 'utf8', env: environment('command') },
  );
  t.equal(list.status, 0, list.stderr);
  const [command, ...others] = loadedBy(join(folder, 'command'));
  t.same(others, [], 'a command has one thread');
  t.same(
    command?.packages.filter((name) => !OF_CONFIGURATION.test(name) && !/^kysely/.test(name)),
    [],
    'configuration and registry, no HTTP, no log, no formats of files',
  );
  t.ok((command?.modules ?? 0) < 660, `a command loads ${command?.modules} modules`);

  // The parent reads the configuration, by which it plans the memory of the program, and says what is wrong with it.
  const parent = spawnSync(
    process.execPath,
    [...LOGGED, 'src/cli/main.ts', 'start', '--config', join(folder, 'none.yaml')],
    { cwd: ROOT, encoding: 'utf8', env: { ...environment('parent'), NODE_COMPILE_CACHE: '' } },
  );
  t.equal(parent.status, 2, parent.stderr);
  t.same(
    loadedBy(join(folder, 'parent')).map(({ entry, packages }) => [
      entry,
      packages.filter((name) => !OF_CONFIGURATION.test(name)),
    ]),
    [['src/cli/main.ts', []]],
  );

  // Another process is its parent, so it stops by itself.
  const orphan = ['--config', config, '--parent', '1'];
  const program = spawn(process.execPath, [...LOGGED, 'src/cli/program.ts', ...orphan], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment('program'),
  });
  const ended = once(program, 'exit');
  t.teardown(() => program.kill('SIGKILL'));
  let output = '';
  program.stdout.on('data', (chunk) => (output += chunk));
  t.same(await ended, [0, null]);
  for (const line of [/the parent process has ended/, /Upbeat is running at/, /"msg":"stopped"/])
    t.match(output, line);
  const threads = loadedBy(join(folder, 'program'));
  const main = threads.find(({ isMain }) => isMain);
  t.same(
    main?.packages.filter((name) =>
      /typebox|kysely|image-size|ioredis|bullmq|influx|openid|jose|csv|pureimage|htmlparser2|commander|undici|busboy|^koa$|@koa|^eta$/.test(
        name,
      ),
    ),
    [],
  );
  t.same(main?.ofClusters, [], 'a single process is no node of a cluster');
  t.ok((main?.modules ?? 0) < 560, `the main thread loads ${main?.modules} modules`);
  t.same(
    threads.flatMap(({ isMain, entry }) => (isMain ? [] : [entry])).sort(),
    ['workers/probe.ts', 'workers/registry.ts', 'workers/samples.ts'],
    'without pictures and vendors there is no thread for them',
  );
  const registry = threads.find(({ entry }) => entry === 'workers/registry.ts');
  t.same(registry?.packages, ['kysely']);
});

t.test('it keeps compiled sources for the next command', async (t) => {
  const folder = t.testdir();
  const { NODE_COMPILE_CACHE: _, ...environment } = process.env;
  const seesCompiler = `data:text/javascript,process.on('exit', () => console.log(process.moduleLoadList.some((name) => /amaro/.test(name))))`;
  const run = () =>
    spawnSync(process.execPath, ['--import', seesCompiler, 'bin/upbeat.mjs', 'keys', '--help'], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...environment, TMPDIR: folder },
    })
      .stdout.trim()
      .split('\n')
      .at(-1);
  t.equal(run(), 'true', 'the first one compiles');
  t.equal(run(), 'false');
  t.ok(existsSync(join(folder, `upbeat-compile-cache-${process.getuid?.() ?? 'user'}`)));
});
