/**
 * The manifests against Kubernetes' own schemas: by the validators that kubernetes-models compiled from them, and by its
 * types, which know every member and so find the misspelled one that a schema would let through.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import t from 'tap';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS } from '../src/config/environment.ts';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly ports?: readonly { readonly name: string }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly volumeMounts?: readonly { readonly name: string }[];
  readonly env?: readonly { readonly name: string; readonly valueFrom?: object }[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
}
interface Kustomization {
  readonly resources: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly serviceName?: string;
    readonly replicas?: number;
    readonly minAvailable?: number;
    readonly selector?: Readonly<Record<string, unknown>>;
    readonly podSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly securityContext?: Readonly<Record<string, unknown>>;
        readonly terminationGracePeriodSeconds?: number;
        readonly containers: readonly Container[];
        readonly volumes?: readonly {
          readonly name: string;
          readonly secret?: {
            readonly secretName: string;
            readonly items: readonly { readonly key: string }[];
          };
        }[];
      };
    };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'deploy/kubernetes');
const CLUSTER = join(ROOT, 'deploy/kubernetes-cluster');
/** The program ends within this time of SIGTERM, milliseconds. */
const MAX_STOP_MS = 15_000;
const KUSTOMIZATION = 'kustomization.yaml';
const require = createRequire(import.meta.url);

function parseManifests(what: string, text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(`${what}: ${document.errors.join(', ')}`);
    return document.toJS() as Manifest;
  });
}
const readManifests = (file: string) => parseManifests(file, readFileSync(file, 'utf8'));
const isPatch = (file: string) => file.endsWith('-patch.yaml');

/** The kustomizations of the cluster: its own, that of the regions' nodes, and each region's. */
const kustomizations = globSync(`**/${KUSTOMIZATION}`, { cwd: CLUSTER }).map((file) => {
  const folder = join(CLUSTER, dirname(file));
  const { resources, patches = [] } = parse(readFileSync(join(CLUSTER, file), 'utf8')) as Kustomization;
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml') && name !== KUSTOMIZATION);
  return { folder, resources, patches: patches.map(({ path }) => path), files };
});

const files = readdirSync(FOLDER).filter((file) => file !== KUSTOMIZATION);
const single = files.flatMap((file) => readManifests(join(FOLDER, file)));
/** The files of the cluster as they are, without what kustomize makes of them. */
const parts = kustomizations.flatMap(({ folder, files: names }) =>
  names.filter((name) => !isPatch(name)).flatMap((name) => readManifests(join(folder, name))),
);
/** What kustomize makes of the overlay; null: it is not there. */
const built = buildCluster();
const cluster = built ?? [...single, ...parts];
const manifests = [...single, ...cluster];
const isWorkload = ({ kind }: Manifest) => kind === 'StatefulSet' || kind === 'Deployment';
const sets = manifests.filter(isWorkload);
const NEEDS_KUSTOMIZE = built === null ? { skip: 'kubectl 1.27 or newer is not there' } : {};
const moduleOf = ({ apiVersion }: Manifest) => `kubernetes-models/${apiVersion}`;

/** Runs the kustomize of kubectl. An older one than that of kubectl 1.27 does not know `labels`. */
function buildCluster(): Manifest[] | null {
  const version = spawnSync('kubectl', ['version', '--client', '--output=json'], { encoding: 'utf8' });
  if (version.status !== 0) return null;
  const { kustomizeVersion = 'v0' } = JSON.parse(version.stdout) as { readonly kustomizeVersion?: string };
  if (Number(/\d+/.exec(kustomizeVersion)) < 5) return null;
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', CLUSTER], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return parseManifests('the overlay', stdout);
}

t.test('it is valid by the schemas of Kubernetes', async (t) => {
  t.ok(manifests.length >= 9);
  for (const manifest of manifests) {
    const models = require(moduleOf(manifest)) as Record<string, new (data: unknown) => { validate(): void }>;
    const Model = models[manifest.kind];
    t.ok(Model, manifest.kind);
    if (Model !== undefined)
      t.doesNotThrow(() => new Model(manifest).validate(), `${manifest.kind} ${manifest.metadata.name}`);
  }
});

t.test('it has no member that Kubernetes does not know', async (t) => {
  const program = (some: readonly Manifest[]) =>
    some
      .flatMap((manifest, index) => [
        `import type { I${manifest.kind} as I${index} } from '${moduleOf(manifest)}';`,
        `export const m${index}: I${index} = ${JSON.stringify(manifest, null, 1)};`,
      ])
      .join('\n');
  const [first] = sets;
  const misspelled = { ...first, spec: { ...first?.spec, replicaz: 1 } } as unknown as Manifest;
  const folder = t.testdir({
    'package.json': '{ "type": "module" }',
    'right.ts': program(manifests),
    'wrong.ts': program([misspelled]),
  });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const compilerOptions = { noEmit: true, strict: true, skipLibCheck: true, types: [], module: 'nodenext' };
  const check = (file: string) => {
    const project = join(folder, 'tsconfig.json');
    writeFileSync(project, JSON.stringify({ compilerOptions, files: [file] }));
    // Without the hooks that the test runner gives to every child of Node.
    const command = ['-u', 'NODE_OPTIONS', join(ROOT, 'node_modules/.bin/tsc'), '--project', project];
    const { status, stdout, stderr } = spawnSync('env', command, { encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };
  const right = check('right.ts');
  t.equal(right.status, 0, right.said);
  t.match(check('wrong.ts').said, /replicaz/);
});

t.test('it joins what it names', async (t) => {
  const kustomization = readFileSync(join(FOLDER, KUSTOMIZATION), 'utf8');
  t.same([...kustomization.matchAll(/^ {2}- (.+)$/gm)].map(([, file]) => file).sort(), files.sort());
  for (const { metadata, spec } of sets) {
    const { template, serviceName, selector, volumeClaimTemplates = [] } = spec ?? {};
    t.match(template?.metadata.labels, (selector?.matchLabels ?? { none: true }) as object, metadata.name);
    if (serviceName !== undefined) {
      const service = manifests.find(
        ({ kind, metadata: { name } }) => kind === 'Service' && name === serviceName,
      );
      t.match(template?.metadata.labels, service?.spec?.selector ?? { none: true }, metadata.name);
    }
    const volumes = [...volumeClaimTemplates.map((claim) => claim.metadata.name)];
    volumes.push(...(template?.spec.volumes ?? []).map(({ name }) => name));
    for (const container of template?.spec.containers ?? []) {
      t.match(container.image, /:[\w.-]*\d/, 'pinned');
      t.same(container.volumeMounts?.map(({ name }) => name).sort(), volumes.sort(), container.name);
      for (const { configMapRef } of container.envFrom ?? [])
        t.ok(
          manifests.some(
            ({ kind, metadata: { name } }) => kind === 'ConfigMap' && name === configMapRef.name,
          ),
          configMapRef.name,
        );
    }
  }
});

t.test('kustomizations name every file beside them, and patch what there is', async (t) => {
  t.equal(kustomizations.length, 5);
  for (const { folder, resources, patches, files: names } of kustomizations) {
    t.same([...resources.filter((name) => name.endsWith('.yaml')), ...patches].sort(), names.sort(), folder);
    for (const resource of resources) t.ok(existsSync(join(folder, resource)), `${folder}: ${resource}`);
    for (const { kind, metadata, spec } of patches.flatMap((name) => readManifests(join(folder, name)))) {
      const target = [...single, ...parts].find(
        (one) => one.kind === kind && one.metadata.name === metadata.name,
      );
      t.ok(target, `${folder}: ${kind} ${metadata.name}`);
      const known = target?.spec?.template?.spec.containers.map(({ name }) => name) ?? [];
      for (const { name } of spec?.template?.spec.containers ?? []) t.ok(known.includes(name), name);
    }
  }
});

t.test('the overlay is two judges and three regions of two nodes each', NEEDS_KUSTOMIZE, async (t) => {
  const workloads = cluster.filter(
    ({ metadata: { name }, ...one }) => isWorkload(one as Manifest) && /^upbeat/.test(name),
  );
  const shown = workloads.map(({ metadata, spec }) => {
    const [container] = spec?.template?.spec.containers ?? [];
    const names = container?.envFrom?.map(({ configMapRef }) => configMapRef.name) ?? [];
    const settings = cluster.find(
      ({ kind, metadata: { name } }) => kind === 'ConfigMap' && names.includes(name),
    );
    const { UPBEAT_NODE_REGION: region, UPBEAT_NODE_ROLES: roles } = settings?.data ?? {};
    t.match(container?.env, [
      { name: 'UPBEAT_NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ]);
    return { name: metadata.name, replicas: spec?.replicas, region, roles };
  });
  t.same(
    shown.sort((a, b) => a.name.localeCompare(b.name)),
    [
      { name: 'upbeat', replicas: 2, region: 'eu', roles: 'judge,serve' },
      { name: 'upbeat-probe-ap', replicas: 2, region: 'ap', roles: 'probe' },
      { name: 'upbeat-probe-eu', replicas: 2, region: 'eu', roles: 'probe' },
      { name: 'upbeat-probe-us', replicas: 2, region: 'us', roles: 'probe' },
    ],
  );
  const selects = (labels: unknown, { spec }: Manifest) =>
    Object.entries(labels ?? {}).every(([key, value]) => spec?.template?.metadata.labels[key] === value);
  for (const { spec, metadata } of workloads) {
    const selected = workloads.filter((one) => selects(spec?.selector?.matchLabels, one));
    t.same(
      selected.map((one) => one.metadata.name),
      [metadata.name],
      'no workload selects pods of another',
    );
    t.ok((spec?.template?.spec.terminationGracePeriodSeconds ?? 0) * 1_000 > MAX_STOP_MS, metadata.name);
    const budget = cluster.find(
      ({ kind, metadata: { name } }) => kind === 'PodDisruptionBudget' && name === metadata.name,
    );
    t.same(budget?.spec?.selector, spec?.selector, 'the budget is for the same pods');
    t.ok((budget?.spec?.minAvailable ?? 9) < (spec?.replicas ?? 0), 'a machine can be drained');
  }
  for (const { kind, metadata, spec } of cluster)
    if (kind === 'NetworkPolicy')
      t.ok(
        cluster.some((one) => isWorkload(one) && selects(spec?.podSelector?.matchLabels, one)),
        `${metadata.name} protects something`,
      );
});

t.test('the secrets are those that the documents create', async (t) => {
  for (const [document, some] of [
    ['docs/operating.md', single],
    ['docs/cluster.md', cluster],
  ] as const) {
    const text = readFileSync(join(ROOT, document), 'utf8');
    const created = (secret: string) =>
      [...text.matchAll(new RegExp(`create secret generic ${secret} ((?:.*\\\\\n)*.*)`, 'g'))].flatMap(
        ([, words = '']) => [...words.matchAll(/--from-literal=([\w-]+)=/g)].map(([, key]) => key),
      );
    const used = some
      .flatMap(({ spec }) => spec?.template?.spec.volumes ?? [])
      .flatMap(({ secret }) =>
        secret === undefined ? [] : secret.items.map(({ key }) => [secret.secretName, key] as const),
      );
    t.ok(used.length > 0);
    for (const [secret, key] of used) t.ok(created(secret).includes(key), `${document}: ${secret} ${key}`);
    for (const [, secret = '', key = ''] of JSON.stringify(some).matchAll(
      /"secretKeyRef":\{"name":"([\w-]+)","key":"([\w-]+)"/g,
    ))
      t.ok(created(secret).includes(key), `${document}: ${secret} ${key}`);
  }
});

t.test('it runs without rights', async (t) => {
  for (const { spec } of sets) {
    t.match(spec?.template?.spec.securityContext, {
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    for (const { securityContext } of spec?.template?.spec.containers ?? [])
      t.match(securityContext, { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
  }
});

t.test('it sets settings that there are', async (t) => {
  const known = SETTINGS.flatMap(({ variable }) => [variable, `${variable}_FILE`]);
  const set = manifests.flatMap(({ kind, data, spec }) => [
    ...(kind === 'ConfigMap' ? Object.keys(data ?? {}) : []),
    ...(spec?.template?.spec.containers ?? [])
      .flatMap(({ env = [] }) => env.map(({ name }) => name))
      .filter((name) => name.startsWith('UPBEAT_')),
  ]);
  t.ok(set.length > 5);
  t.same(
    set.filter((name) => !known.includes(name)),
    [],
  );
});
