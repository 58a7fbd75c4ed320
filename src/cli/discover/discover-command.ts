/**
 * `upbeat discover`: prints what Docker, Kubernetes or Traefik run as a file that `apply` reads; with `--watch` it applies that, again
 * with each change.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../../domain/durations.ts';
import { printableLines } from '../../domain/printable-text.ts';
import { messageOf } from '../../error.ts';
import { DOCKER_SOCKET } from '../../kinds/docker.ts';
import type { AccountChoice } from '../accounts.ts';
import { apply } from '../apply/apply-command.ts';
import { type CommonOptions, UsageError } from '../command.ts';
import { formatJson, formatYaml, printNote } from '../output.ts';
import type { FoundService } from './found-service.ts';
import { discoverDocker, discoverKubernetes, discoverTraefik, TRAEFIK_API } from './sources.ts';

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
