/**
 * `npm run soak -- cluster upgrade [--previous COMMIT]`: six nodes of a previous version are replaced one after the other by
 * nodes of a newer one, which has one more step of the registry, under load. Counted at the checked sites: no service may
 * wait longer than the interval and a few seconds for a check in any region. Without `--previous`, the previous version is a
 * copy of this tree with another number. Ends with status 1 otherwise.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Cluster, type ClusterNode, createCluster } from '../../support/cluster.ts';
import { CONTROL_PATH, type CountedSite, startCountedSite } from '../../support/counted-site.ts';
import { at, listAt } from '../../support/json.ts';
import { listenOn } from '../../support/loopback.ts';
import type { Scope } from '../../support/run-servers.ts';

const { values } = parseArgs({ options: { previous: { type: 'string' } } });

const ROOT = join(import.meta.dirname, '../../..');
const SERVICES = 60;
const INTERVAL_MS = 5_000;
/** Longest wait for a check: the interval and a few seconds. */
const MAX_GAP_MS = INTERVAL_MS + 10_000;
/** A node that is stopped ends within this time, although some services do not respond. */
const STOPPED_WITHIN_MS = 8_000;
const READ_EVERY_MS = 250;
const PATIENCE_MS = 90_000;
const ALL = ['judge', 'probe', 'serve'] as const;
/** Judges that stand by, then the monitor, then the others (docs/cluster.md, Upgrades). */
const ORDER = ['ap-1', 'us-1', 'eu-1', 'eu-2', 'ap-2', 'us-2'];

const ends: (() => unknown)[] = [];
const scope: Scope = { teardown: (end) => void ends.unshift(end) };
const wrong: string[] = [];
let isEnded = false;
let replaced = '';
let reads = 0;

const complain = (line: string) => {
  wrong.push(line);
  console.log(`WRONG  ${line}`);
};
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

try {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-upgrade-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const previous = makeTree(folder, 'previous', '0.0.1', values.previous);
  const next = makeTree(folder, 'next', '99.0.0');
  appendFileSync(
    join(next, 'src/store/database/migrations/postgres-steps.ts'),
    "steps['9999-trial-compatible'] = ['ALTER TABLE services ADD COLUMN trial integer'];\n",
  );
  const { cluster, site, install } = await openCluster(folder);
  for (const [index, name] of ['eu-1', 'eu-2', 'ap-1', 'ap-2', 'us-1', 'us-2'].entries()) {
    const node = await install(name, index % 2 === 0 ? ALL : ['probe', 'serve']);
    switchTo(folder, name, previous);
    await node.start();
  }
  await untilSettled(cluster, PATIENCE_MS);
  const beganMs = performance.now();
  void readOn(cluster);
  for (const name of ORDER) {
    await replace(cluster, folder, name, next);
    // The previous version still starts beside the new one, whose step is compatible.
    if (name === 'us-1' && values.previous === undefined) await restart(cluster, 'eu-2');
  }
  isEnded = true;
  await judge(cluster, site, beganMs);
} finally {
  isEnded = true;
  for (const end of ends) await end();
}
for (const line of wrong) console.log(`WRONG  ${line}`);
console.log(wrong.length === 0 ? 'no check was missed' : 'NOT as it must be');
process.exit(wrong.length === 0 ? 0 : 1);

/** Makes a tree of the program with a version number of its own; returns its folder. */
function makeTree(folder: string, name: string, version: string, commit?: string): string {
  const tree = join(folder, name);
  mkdirSync(tree);
  if (commit === undefined) {
    for (const part of ['assets', 'bin', 'config', 'src', 'workers', 'package.json'])
      cpSync(join(ROOT, part), join(tree, part), { recursive: true });
  } else {
    const archive = execFileSync('git', ['-C', ROOT, 'archive', commit], { maxBuffer: 2 ** 28 });
    execFileSync('tar', ['-x', '-C', tree], { input: archive });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  const manifest = join(tree, 'package.json');
  writeFileSync(manifest, JSON.stringify({ ...JSON.parse(readFileSync(manifest, 'utf8')), version }));
  return tree;
}

/** Lets a node start from that tree from now on. */
function switchTo(folder: string, name: string, tree: string): void {
  rmSync(join(folder, `tree-${name}`), { force: true });
  symlinkSync(tree, join(folder, `tree-${name}`));
}

async function openCluster(folder: string) {
  const site = await startCountedSite(scope);
  const silent = await listenOn(createServer(() => {}));
  scope.teardown(silent.close);
  const entries = Array.from({ length: SERVICES }, (_, index) => ({
    slug: `s${index}`,
    check: { url: `${site.url}/s${index}`, method: 'GET' },
  }));
  const hanging = ['h1', 'h2', 'h3'].map((slug) => ({
    slug,
    check: { url: `http://127.0.0.1:${silent.port}/` },
  }));
  const cluster = await createCluster(scope, {
    entries: [...entries, ...hanging],
    settings: {
      checks: {
        ...{ interval: `${INTERVAL_MS}ms`, timeout: '8s', confirmAfter: ['100ms'] },
        controlTargets: [`${site.url}${CONTROL_PATH}`],
      },
    },
  });
  site.attribute(cluster);
  return {
    cluster,
    site,
    install(name: string, roles: NonNullable<Parameters<Cluster['install']>[0]['roles']>) {
      // Node.js and the path of the entry stand before the words of the command.
      const script = `node=$1; shift 2; cd ${join(folder, `tree-${name}`)} && exec "$node" bin/upbeat.mjs "$@"`;
      const place = { enter: ['sh', '-c', script, 'sh'], expose: async () => '' };
      return cluster.install({ name, region: name.slice(0, 2), roles, place });
    },
  };
}

function nodeOf({ nodes }: Cluster, name: string): ClusterNode {
  const found = nodes.find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no node ${name}`);
  return found;
}

/** Waits until every node sees six nodes and every service has the verdict of three regions. */
async function untilSettled(cluster: Cluster, withinMs: number): Promise<void> {
  for (const { program } of cluster.nodes)
    await program.until(
      '/readyz',
      (body) => ['ap', 'eu', 'us'].every((region) => at(body, 'nodes', region) === 2),
      withinMs,
    );
  const isKnown = (body: unknown) =>
    Array.isArray(at(body, 'regions')) && listAt(body, 'regions').length === 3;
  for (let index = 0; index < SERVICES; index++)
    await nodeOf(cluster, 'us-2').program.until(`/api/v1/status/s${index}`, isKnown, withinMs);
}

/** Stops a node and starts it again from the new tree. */
async function replace(cluster: Cluster, folder: string, name: string, tree: string): Promise<void> {
  const node = nodeOf(cluster, name);
  replaced = name;
  const role = at((await node.program.get('/readyz')).body, 'role');
  const askedMs = performance.now();
  const status = await node.stop();
  const tookMs = performance.now() - askedMs;
  if (status !== 0) complain(`${name} ended with status ${status}`);
  if (tookMs > STOPPED_WITHIN_MS) complain(`${name} took ${seconds(tookMs)} to stop`);
  switchTo(folder, name, tree);
  await node.start();
  await untilSettled(cluster, PATIENCE_MS);
  replaced = '';
  console.log(
    `${name} (${role}) stopped in ${seconds(tookMs)}; replaced in ${seconds(performance.now() - askedMs)}`,
  );
}

async function restart(cluster: Cluster, name: string): Promise<void> {
  const node = nodeOf(cluster, name);
  replaced = name;
  await node.stop();
  await node.start();
  await untilSettled(cluster, PATIENCE_MS);
  replaced = '';
  console.log(`${name} of the previous version has started again`);
}

/** Reads from all nodes but the one that is being replaced. */
async function readOn(cluster: Cluster): Promise<void> {
  for (let index = 0; !isEnded; index++) {
    for (const { name, program } of cluster.nodes) {
      if (name === replaced) continue;
      const path = index % 2 === 0 ? `/api/v1/status/s${index % SERVICES}` : '/api/v1/incidents';
      const status = await program.get(path).then(
        (answer) => answer.status,
        () => 0,
      );
      reads += 1;
      if (status !== 200 && name !== replaced && !isEnded) complain(`${name} answered ${status} to ${path}`);
    }
    await sleep(READ_EVERY_MS);
  }
}

async function judge(cluster: Cluster, site: CountedSite, beganMs: number): Promise<void> {
  const endMs = performance.now();
  let [longestMs, checks] = [0, 0];
  for (const region of ['ap', 'eu', 'us'])
    for (let index = 0; index < SERVICES; index++) {
      const own = site.requests.filter(({ path, node }) => path === `/s${index}` && node.region === region);
      const times = own.map(({ atMs }) => atMs).filter((atMs) => atMs >= beganMs);
      checks += times.length;
      const gapMs = Math.max(...[...times, endMs].map((atMs, at) => atMs - (times[at - 1] ?? beganMs)));
      longestMs = Math.max(longestMs, gapMs);
      if (gapMs > MAX_GAP_MS) complain(`s${index} waited ${seconds(gapMs)} for a check in ${region}`);
    }
  const { stdout } = await nodeOf(cluster, 'eu-1').installation.runHere('nodes', '--json');
  const versions = listAt({ nodes: JSON.parse(stdout) }, 'nodes').map((node) => at(node, 'version'));
  if (versions.join() !== Array(6).fill('99.0.0').join()) complain(`versions: ${versions.join(', ')}`);
  const { body } = await nodeOf(cluster, 'us-1').program.get('/api/v1/incidents?limit=100');
  const failing = listAt(body, 'incidents').map(
    (one) => String(at(one, 'source_url')).split('/').at(-1) ?? '',
  );
  for (const slug of failing) if (!/^h\d/.test(slug)) complain(`${slug} was called down`);
  const due = (endMs - beganMs) / INTERVAL_MS;
  console.log(`${checks} checks of ${SERVICES} services in 3 regions in ${seconds(endMs - beganMs)}`);
  console.log(
    `${(checks / (due * SERVICES * 3)).toFixed(3)} checks an interval; the longest wait ${seconds(longestMs)}`,
  );
  console.log(`${reads} reads at the other nodes`);
}
