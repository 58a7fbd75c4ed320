/**
 * The manifests against Kubernetes' own schemas: by the validators that kubernetes-models compiled from them, and by its
 * types, which know every member and so find the misspelled one that a schema would let through.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { SETTINGS } from '../src/config/environment.ts';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly ports?: readonly { readonly name: string }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly volumeMounts?: readonly { readonly name: string }[];
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly serviceName?: string;
    readonly selector?: Readonly<Record<string, unknown>>;
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly securityContext?: Readonly<Record<string, unknown>>;
        readonly containers: readonly Container[];
        readonly volumes?: readonly { readonly name: string }[];
      };
    };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'deploy/kubernetes');
const require = createRequire(import.meta.url);
const files = readdirSync(FOLDER).filter((file) => file !== 'kustomization.yaml');
const manifests = files.flatMap((file) =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join(', ')}`);
    return document.toJS() as Manifest;
  }),
);
const sets = manifests.filter(({ kind }) => kind === 'StatefulSet');
const moduleOf = ({ apiVersion }: Manifest) => `kubernetes-models/${apiVersion}`;

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
  const kustomization = readFileSync(join(FOLDER, 'kustomization.yaml'), 'utf8');
  t.same([...kustomization.matchAll(/^ {2}- (.+)$/gm)].map(([, file]) => file).sort(), files.sort());
  for (const { metadata, spec } of sets) {
    const { template, serviceName, selector, volumeClaimTemplates = [] } = spec ?? {};
    t.match(template?.metadata.labels, (selector?.matchLabels ?? { none: true }) as object, metadata.name);
    const service = manifests.find(
      ({ kind, metadata: { name } }) => kind === 'Service' && name === serviceName,
    );
    t.match(template?.metadata.labels, service?.spec?.selector ?? { none: true }, metadata.name);
    const volumes = [...volumeClaimTemplates.map((claim) => claim.metadata.name)];
    volumes.push(...(template?.spec.volumes ?? []).map(({ name }) => name));
    for (const container of template?.spec.containers ?? []) {
      t.match(container.image, /:[\w.-]*\d/, 'pinned');
      t.same(container.volumeMounts?.map(({ name }) => name).sort(), volumes.sort(), container.name);
    }
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
  const set = manifests.flatMap(({ kind, data }) => (kind === 'ConfigMap' ? Object.keys(data ?? {}) : []));
  t.ok(set.length > 5);
  t.same(
    set.filter((name) => !known.includes(name)),
    [],
  );
});
