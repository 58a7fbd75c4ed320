/**
 * `upbeat discover`: prints what Docker, Kubernetes or Traefik run as a file that `apply` reads; with `--watch` it applies that, again
 * with each change.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../../domain/durations.ts';
import { printableLines } from '../../domain/printable-text.ts';
import { messageOf } from '../../error.ts';
import { DOCKER_SOCKET } from '../../kinds/docker.ts';
import type { AccountChoice } from '../accounts.ts';
import { apply } from '../apply/apply-command.ts';
import { CommandError, type CommonOptions, UsageError } from '../command.ts';
import { formatJson, formatYaml, printNote } from '../output.ts';
import { type FoundService, isEnabled, ownLabels, servicesOf } from './found-service.ts';

/** The API of Traefik as its documentation sets it up. */
const TRAEFIK_API = 'http://localhost:8080';

const NO_LABELS: ReadonlyMap<string, string> = new Map();

/** Routers in the order of their names, without those of Traefik itself and those whose rule names no host. */
export async function discoverTraefik(api: string, note: (text: string) => void): Promise<FoundService[]> {
  const [http, tcp] = [
    objectsIn(await getJson({ origin: api }, '/api/http/routers?per_page=10000')),
    objectsIn(await getJson({ origin: api }, '/api/tcp/routers?per_page=10000')),
  ];
  const found = [
    ...http.flatMap((router) => {
      const rule = String(router.rule ?? '');
      const path = argumentsOf(rule, /\bPath(?:Prefix)?\(([^)]*)\)/)[0] ?? '/';
      const settings = {
        ...(typeof router.tls === 'object' && router.tls !== null ? {} : { plain: true }),
        ...(path.startsWith('/') && path !== '/' ? { path } : {}),
      };
      return hostsIn(rule).map((host) => ({
        router,
        host,
        name: path === '/' ? host : `${host}${path}`,
        check: { kind: 'http', settings },
      }));
    }),
    ...tcp.flatMap((router) =>
      argumentsOf(String(router.rule ?? ''), /\bHostSNI\(([^)]*)\)/)
        .filter((host) => host !== '*')
        .map((host) => ({ router, host, name: `${host} tls`, check: { kind: 'tls' } })),
    ),
  ];
  return found
    .filter(
      ({ router }) => router.provider !== 'internal' && !String(router.name ?? '').endsWith('@internal'),
    )
    .flatMap(({ router, host, name, check }) => {
      const origin = `traefik://${String(router.name ?? '')}/${host}`;
      return servicesOf({ origin, name, domain: host, check }, NO_LABELS, note);
    })
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));
}

function hostsIn(rule: string): string[] {
  return argumentsOf(rule, /(?<![!\w])Host\(([^)]*)\)/);
}

/** The texts between backquotes or quotation marks of a function in a rule. */
function argumentsOf(rule: string, call: RegExp): string[] {
  const list = call.exec(rule.slice(0, 4_000))?.[1] ?? '';
  return [...list.matchAll(/[`"']([^`"']+)[`"']/g)].map(([, text = '']) => text);
}

interface DockerChoice {
  readonly socket: string;
  /** The host that containers without an address of their own belong to. */
  readonly host: string;
  /** True if containers without labels are found too. */
  readonly all: boolean;
}

/** Containers, running or not, in the order of their names. Those that have ended are found: their check says that they are down. */
export async function discoverDocker(
  { socket, host, all }: DockerChoice,
  note: (text: string) => void,
): Promise<FoundService[]> {
  const list = await getJson({ origin: 'http://localhost', socketPath: socket }, '/containers/json?all=true');
  return objectsIn(list)
    .map((container) => ({ name: nameOf(container), labels: ownLabels(container.Labels) }))
    .filter(({ name, labels }) => name !== '' && (isEnabled(labels) ?? all))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, labels }) => {
      const settings = { container: name, ...(socket === DOCKER_SOCKET ? {} : { socket }) };
      const check = { kind: 'docker', settings };
      return servicesOf({ origin: `docker://${name}`, name, domain: host, check }, labels, note);
    });
}

/** `/web` as `web`; links have further slashes. */
function nameOf({ Names }: Record<string, unknown>): string {
  const names = Array.isArray(Names) ? Names.map(String) : [];
  return names.map((name) => name.replace(/^\//, '')).find((name) => !name.includes('/')) ?? '';
}

interface KubernetesChoice {
  /** URL of the API, such as that of `kubectl proxy`; absent: that of the pod. */
  readonly api?: string;
  /** Absent: all. */
  readonly namespace?: string;
}

const POD_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Ingresses in the order of their names. An annotation `upbeat.enable: "false"` leaves one out. */
export async function discoverKubernetes(
  { api, namespace }: KubernetesChoice,
  note: (text: string) => void,
): Promise<FoundService[]> {
  const place = api === undefined ? placeOfPod() : { origin: api };
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const list = await getJson(place, `/apis/networking.k8s.io/v1${scope}/ingresses`);
  return objectsIn(Object(list).items)
    .flatMap((ingress) => servicesOfIngress(ingress, note))
    .sort((a, b) => (a.slug < b.slug ? -1 : 1));
}

/** The API of the cluster that this process is a pod of. Throws if it is none. */
function placeOfPod(): ApiPlace {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  if (host === undefined || !existsSync(POD_FOLDER))
    throw new CommandError(
      'this is not a pod of a cluster: name its API with --api, such as that of "kubectl proxy"',
    );
  const read = (name: string) => readFileSync(`${POD_FOLDER}/${name}`, 'utf8');
  const origin = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return { origin, ca: read('ca.crt'), token: read('token').trim() };
}

function servicesOfIngress(ingress: Record<string, unknown>, note: (text: string) => void): FoundService[] {
  const { name = '', namespace = '', annotations } = Object(ingress.metadata);
  const labels = ownLabels(annotations);
  if (isEnabled(labels) === false) return [];
  const { rules, tls } = Object(ingress.spec);
  const secured = new Set(objectsIn(tls).flatMap(({ hosts }) => (Array.isArray(hosts) ? hosts : [])));
  const places = objectsIn(rules).flatMap(({ host, http }) => {
    // A host with a star is none that can be asked.
    if (typeof host !== 'string' || host === '' || host.includes('*')) return [];
    const paths = objectsIn(Object(http).paths).map(({ path }) => (typeof path === 'string' ? path : '/'));
    return (paths.length === 0 ? ['/'] : paths).map((path) => ({ host, path: plainPath(path) }));
  });
  return places.flatMap(({ host, path }) => {
    const settings = {
      ...(secured.has(host) ? {} : { plain: true }),
      ...(path === '/' ? {} : { path }),
    };
    const suggestion = {
      origin: `kubernetes://${namespace}/${name}/${host}${path}`,
      name: `${host}${path === '/' ? '' : path}`,
      domain: host,
      check: { kind: 'http', settings },
    };
    return servicesOf(suggestion, labels, note);
  });
}

/** A path of an ingress is perhaps an expression, of which the beginning is asked. */
function plainPath(path: string): string {
  const plain = /^[\w/.~-]*/.exec(path)?.[0] ?? '';
  return plain.startsWith('/') ? plain : '/';
}

interface ApiPlace {
  /** Its URL without a path; with a socket, `http://localhost`. */
  readonly origin: string;
  readonly socketPath?: string;
  /** PEM certificates of its authority; absent: the usual ones. */
  readonly ca?: string;
  readonly token?: string;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 67_108_864;

/** The document at a path. Throws {@link CommandError} if there is none. */
async function getJson({ origin, socketPath, ca, token }: ApiPlace, path: string): Promise<unknown> {
  const url = new URL(path, origin);
  const where = socketPath ?? url.origin;
  const send = url.protocol === 'https:' ? requestSecure : requestPlain;
  return await new Promise((resolve, reject) => {
    const fail = (text: string) => reject(new CommandError(`${where} ${text}`));
    const request = send(
      url,
      {
        headers: {
          accept: 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        timeout: TIMEOUT_MS,
        ...(socketPath === undefined ? {} : { socketPath }),
        ...(ca === undefined ? {} : { ca }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes <= MAX_BYTES) return;
          request.destroy();
          fail('answers more than 64 MiB');
        });
        response.on('error', (error) => fail(`breaks off its answer (${error.message})`));
        response.on('end', () => {
          if (response.statusCode !== 200) return fail(`answers ${path} with status ${response.statusCode}`);
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString()));
          } catch (error) {
            fail(`answers no JSON (${messageOf(error)})`);
          }
        });
      },
    );
    request.on('timeout', () => {
      request.destroy();
      fail(`does not answer within ${TIMEOUT_MS / 1_000} s`);
    });
    request.on('error', (error: NodeJS.ErrnoException) =>
      fail(`cannot be reached (${error.code ?? error.message})`),
    );
    request.end();
  });
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
}

/** The places to discover services in. */
export type DiscoverySource = 'docker' | 'kubernetes' | 'traefik';

export interface DiscoverOptions extends CommonOptions, AccountChoice {
  readonly socket?: string;
  readonly host?: string;
  readonly all?: boolean;
  readonly api?: string;
  readonly namespace?: string;
  readonly watch?: boolean;
  readonly every?: string;
  /** As for `apply`. */
  readonly server?: string;
}

const MIN_EVERY_MS = 1_000;
const OPTIONS: Readonly<Record<DiscoverySource, readonly (keyof DiscoverOptions)[]>> = {
  docker: ['socket', 'host', 'all'],
  kubernetes: ['api', 'namespace'],
  traefik: ['api'],
};

/** Prints what runs, or keeps it applied until the process is ended. */
export async function discover(source: DiscoverySource, options: DiscoverOptions): Promise<void> {
  const { watch = false, every = '30s', account, accountId, server, json = false } = options;
  for (const name of new Set(Object.values(OPTIONS).flat()))
    if (options[name] !== undefined && !OPTIONS[source].includes(name))
      throw new UsageError(`--${name} is not for ${source}`);
  const noted = new Set<string>();
  const find = async () =>
    await lookAt(source, options, (text) => {
      if (!noted.has(text)) printNote(text);
      noted.add(text);
    });
  if (!watch) {
    const services = withOwnSlugs(await find());
    process.stdout.write(json ? `${formatJson({ services })}\n` : await formatYaml({ services }));
    return;
  }
  if (account === undefined && accountId === undefined && server === undefined)
    throw new UsageError('--watch needs --account, --account-id or --server');
  const everyMs = parseDuration(every);
  if (everyMs === null || everyMs < MIN_EVERY_MS) throw new UsageError('--every takes a duration from 1s on');
  await keepApplied(find, options, everyMs);
}

async function lookAt(
  source: DiscoverySource,
  { socket = DOCKER_SOCKET, host = 'docker.internal', all = false, api, namespace }: DiscoverOptions,
  note: (text: string) => void,
): Promise<FoundService[]> {
  if (source === 'docker') return await discoverDocker({ socket, host, all }, note);
  if (source === 'traefik') return await discoverTraefik(api ?? TRAEFIK_API, note);
  return await discoverKubernetes(
    { ...(api === undefined ? {} : { api }), ...(namespace === undefined ? {} : { namespace }) },
    note,
  );
}

/** A slug that was given before gets a number. */
export function withOwnSlugs(services: readonly FoundService[]): FoundService[] {
  const taken = new Set<string>();
  return services.map((service) => {
    let slug = service.slug;
    for (let number = 2; taken.has(slug); number++) slug = `${service.slug}-${number}`;
    taken.add(slug);
    return { ...service, slug };
  });
}

/**
 * Found services, and, paused, those that were found before and are gone. `known`: all that was found, to which this is added.
 */
export function withGone(found: readonly FoundService[], known: Map<string, FoundService>): FoundService[] {
  const slugs = new Set(found.map(({ slug }) => slug));
  for (const service of found) known.set(service.slug, service);
  const gone = [...known.values()].filter(({ slug }) => !slugs.has(slug));
  return [...found, ...gone.map((service) => ({ ...service, paused: true }))];
}

/** Applies what is found whenever it has changed. What is gone is paused, not removed. A failure is tried again. */
async function keepApplied(
  find: () => Promise<FoundService[]>,
  options: DiscoverOptions,
  everyMs: number,
): Promise<never> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-discover-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
  const file = join(folder, 'found.json');
  const known = new Map<string, FoundService>();
  let applied = '';
  let problem = '';
  for (;;) {
    try {
      const found = withOwnSlugs(await find());
      const services = withGone(found, known);
      const text = JSON.stringify({ services });
      if (text !== applied && services.length > 0) {
        writeFileSync(file, text, { mode: 0o600 });
        await apply({ ...options, file: [file] });
      }
      applied = text;
      problem = '';
    } catch (error) {
      const now = messageOf(error);
      if (now !== problem) console.error(printableLines(now));
      problem = now;
    }
    await sleep(everyMs);
  }
}
