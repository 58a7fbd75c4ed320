/** What operators deploy with takes every right that the program does not need. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { hasProgram } from '../support/install-servers.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const UNIT = 'deploy/systemd/upbeat.service';

/** The settings of a section of a unit; a repeated one has several values. */
function readUnit(section: string): ReadonlyMap<string, readonly string[]> {
  const [, text = ''] = read(UNIT).split(`[${section}]\n`);
  const settings = new Map<string, string[]>();
  for (const line of (text.split('\n[')[0] ?? '').split('\n')) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) settings.set(name, [...(settings.get(name) ?? []), value ?? '']);
  }
  return settings;
}

t.test('the unit of systemd takes every right that the program does not need', async (t) => {
  const service = readUnit('Service');
  const wanted: Readonly<Record<string, readonly string[]>> = {
    User: ['upbeat'],
    NoNewPrivileges: ['yes'],
    CapabilityBoundingSet: [''],
    ProtectSystem: ['strict'],
    ProtectHome: ['yes'],
    PrivateTmp: ['yes'],
    PrivateDevices: ['yes'],
    RestrictNamespaces: ['yes'],
    SystemCallFilter: ['@system-service', '~@privileged @resources'],
    StateDirectoryMode: ['0700'],
    UMask: ['0077'],
    // With the parent process alone signalled, the program does not take the forwarded SIGTERM for a second one.
    KillMode: ['mixed'],
  };
  for (const [name, values] of Object.entries(wanted)) t.strictSame(service.get(name), values, name);
  t.ok(service.has('MemoryMax') && service.has('TasksMax'), 'it is bounded');
  const seconds = Number(/^(\d+)s$/.exec(service.get('TimeoutStopSec')?.[0] ?? '')?.[1]);
  t.ok(seconds > 15, 'a stop takes at most 15 s');
});

const NEEDS_SYSTEMD = hasProgram('systemd-analyze') ? {} : { skip: 'systemd-analyze is not there' };

t.test('systemd rates the unit as little exposed', NEEDS_SYSTEMD, async (t) => {
  const { stdout, status } = spawnSync(
    'systemd-analyze',
    ['security', '--no-pager', '--offline=true', '--threshold=20', join(ROOT, UNIT)],
    { encoding: 'utf8' },
  );
  t.equal(status, 0, stdout.split('\n').slice(-2).join(' '));
});

t.test('the image runs as an unprivileged user, and holds no secret', async (t) => {
  const lines = read('Dockerfile').split('\n');
  t.strictSame(
    lines.filter((line) => line.startsWith('USER ')),
    ['USER node'],
  );
  const last = lines.findLastIndex((line) => line.startsWith('RUN apt-get') || line.startsWith('COPY'));
  t.ok(lines.indexOf('USER node') > last, 'nothing that the program can change is run or copied as root');
  t.notMatch(read('Dockerfile'), /^ADD /m, 'nothing is fetched by address');
  t.notMatch(read('Dockerfile'), /npm (install|i) /, 'packages are those of the lock file');
  t.notMatch(read('Dockerfile'), /(TOKEN|PASSWORD|SECRET|_KEY)=/);
});

interface ComposeService {
  readonly privileged?: boolean;
  readonly network_mode?: string;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
  readonly read_only?: boolean;
  readonly build?: string;
  readonly ports?: readonly string[];
}

t.test('containers have no rights beyond those of their start, and bounds', async (t) => {
  const { services } = parse(read('compose.yaml'), { merge: true }) as {
    readonly services: Readonly<Record<string, ComposeService>>;
  };
  // Images that begin as root and hand over to a user of their own.
  const ofStart = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'];
  for (const [name, service] of Object.entries(services)) {
    t.strictSame(service.cap_drop, ['ALL'], name);
    t.strictSame(service.security_opt, ['no-new-privileges:true'], name);
    t.ok(
      (service.cap_add ?? []).every((one) => ofStart.includes(one)),
      name,
    );
    t.notOk(service.privileged ?? service.network_mode, name);
    t.ok(service.mem_limit !== undefined && service.pids_limit !== undefined, `${name} is bounded`);
    if (service.build !== undefined) t.equal(service.read_only, true, name);
    for (const port of service.ports ?? [])
      t.ok(name === 'upbeat' || port.startsWith('127.0.0.1:'), `${name} listens on ${port}`);
  }
});

interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly securityContext?: object;
  readonly containers: readonly {
    readonly name: string;
    readonly resources?: object;
    readonly securityContext?: { readonly readOnlyRootFilesystem?: boolean };
  }[];
}

/** Images that write outside of their volumes: InfluxDB's makes its configuration at the first start. */
const WRITES_ELSEWHERE = ['influxdb'];

t.test('pods have a read-only root, no rights, no token of the cluster, and bounds', async (t) => {
  const pods = globSync('deploy/kubernetes*/**/*.yaml', { cwd: ROOT })
    .filter((file) => !file.endsWith('-patch.yaml'))
    .flatMap((file) => parseAllDocuments(read(file)).map((document) => document.toJSON()))
    .flatMap(({ spec }: { readonly spec?: { readonly template?: { readonly spec: PodSpec } } }) =>
      spec?.template === undefined ? [] : [spec.template.spec],
    );
  t.ok(pods.length >= 5);
  for (const pod of pods) {
    t.match(pod, {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: Number, seccompProfile: { type: 'RuntimeDefault' } },
    });
    t.notOk(pod.hostNetwork ?? pod.hostPID);
    for (const { name, securityContext, resources } of pod.containers) {
      const rights = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
      t.match(securityContext, rights, name);
      t.equal(securityContext?.readOnlyRootFilesystem === true, !WRITES_ELSEWHERE.includes(name), name);
      t.match(resources, { requests: { memory: String }, limits: { memory: String } }, name);
    }
  }
});
