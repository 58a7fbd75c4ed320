/**
 * The management API of Healthchecks (https://healthchecks.io/docs/api/), versions 1 to 3: heartbeat services as checks, by an API key in
 * `X-Api-Key`. Changes are those of services (`src/resources/`). Errors have Healthchecks' form, `{"error": …}`.
 */

import { formatTime } from '../../domain/durations.ts';
import { hashAddressSecret } from '../../domain/heartbeat/heartbeat-rules.ts';
import type { Service } from '../../domain/service.ts';
import { HttpError, PROBLEMS } from '../../http/problem.ts';
import type {
  HttpRequest,
  HttpResponse,
  Route,
  WriteMethod,
  WriteOperation,
  WriteRequest,
} from '../../http/route.ts';
import { anyRevision } from '../../resources/kit/create-changes.ts';
import { bearerOf, changed, principalOf, resultOf } from '../../resources/kit/write-route.ts';
import { serviceChanges } from '../../resources/services/services.ts';
import type { StoredHeartbeat } from '../../store/ports/heartbeats.ts';
import type { TransitionReads } from '../../store/ports/updates.ts';
import { addCheck, slugOfCheck, slugOfName, uuidOfCheck } from './checks.ts';
import {
  invalid,
  membersOfCheck,
  patchOfCheck,
  readWantedCheck,
  type WantedCheck,
  wordsOf,
} from './read-check.ts';
import {
  type CheckReader,
  type CheckSources,
  channelsOf,
  chosenMembers,
  isoTime,
  uniqueKeyOf,
  viewChannel,
  viewChecks,
} from './view-check.ts';

/** Maximum size of a body, bytes. */
const MAX_BODY_BYTES = 16_384;
const VERSIONS = [1, 2, 3] as const;

type ApiSources = CheckSources & {
  readonly context: CheckSources['context'] & { readonly registry: TransitionReads };
};

export function checkRoutes(sources: ApiSources): Route[] {
  return VERSIONS.flatMap((version) => routesOf(sources, version));
}

function routesOf(sources: ApiSources, version: number): Route[] {
  const base = `/api/v${version}`;
  const reader = (request: HttpRequest): CheckReader => ({ key: bearerOf(request), version });
  /** The answer with one check. */
  const answer = async (request: HttpRequest, service: Service, status: 200 | 201 = 200) =>
    changed(status, (await viewChecks(sources, reader(request), [service]))[0] ?? {});
  const found = (request: HttpRequest) => findByName(sources, reader(request), request.params.id ?? '');
  const setPaused = (isWanted: boolean) => async (request: WriteRequest) => {
    const { slug, paused } = await found(request);
    if (!isWanted && !paused) throw new HttpError('conflict', 'check is not paused');
    const patch = { paused: isWanted };
    const principal = principalOf(request.key);
    return await answer(
      request,
      resultOf(await serviceChanges.patch(sources.context, principal, anyRevision(slug), patch)),
    );
  };
  return [
    route(`${base}/checks`, {
      GET: async (request) =>
        changed(200, { checks: await listChecks(sources, reader(request), request.query) }),
      async POST(request) {
        const { service, isNew } = await putCheck(sources, reader(request), readWantedCheck(request.body));
        return await answer(request, service, isNew ? 201 : 200);
      },
    }),
    route(`${base}/checks/:id`, {
      GET: async (request) => await answer(request, await found(request)),
      async POST(request) {
        const service = await found(request);
        return await answer(
          request,
          await changeCheck(sources, reader(request), service, readWantedCheck(request.body)),
        );
      },
      async DELETE(request) {
        const service = await found(request);
        const last = await answer(request, service);
        const principal = principalOf(request.key);
        resultOf(await serviceChanges.remove(sources.context, principal, anyRevision(service.slug)));
        return last;
      },
    }),
    route(`${base}/checks/:id/pause`, { POST: setPaused(true) }),
    route(`${base}/checks/:id/resume`, { POST: setPaused(false) }),
    route(
      `${base}/checks/:id/pings`,
      { GET: async (request) => changed(200, await listPings(sources, await found(request), base)) },
      'write',
    ),
    route(
      `${base}/checks/:id/pings/:n/body`,
      { GET: async (request) => await readPingBody(sources, await found(request), request.params.n ?? '') },
      'write',
    ),
    route(`${base}/checks/:id/flips`, {
      GET: async (request) => changed(200, await listFlips(sources, await found(request), request.query)),
    }),
    route(`${base}/badges`, {
      GET() {
        throw new HttpError(
          'route_not_found',
          'there are no badges of tags here: each check has its own badge_url',
        );
      },
    }),
    // In version 1 the address is that of the channels of our own API; RequestServer tells them apart.
    ...(version === 1 ? [] : [channelsRoute(sources, base)]),
  ];
}

function channelsRoute({ context }: ApiSources, base: string): Route {
  const GET = async (request: HttpRequest): Promise<HttpResponse> => {
    const channels = await context.registry.channelsOf(bearerOf(request).accountId);
    return changed(200, { channels: channels.map((channel) => viewChannel(context, channel)) });
  };
  return route(`${base}/channels`, { GET }, 'write');
}

interface Handlers {
  readonly GET?: (request: HttpRequest) => Promise<HttpResponse> | HttpResponse;
  readonly POST?: (request: WriteRequest) => Promise<HttpResponse>;
  readonly DELETE?: (request: WriteRequest) => Promise<HttpResponse>;
}

/** A route of the API; `reading`: the scope for GET, by default `read`. */
function route(path: string, { GET, ...changes }: Handlers, reading: 'read' | 'write' = 'read'): Route {
  const operations = Object.entries(changes).map(([method, handle]) => {
    const operation: WriteOperation = {
      access: { scope: 'write' },
      maxBytes: method === 'POST' ? MAX_BODY_BYTES : 0,
      // Clients such as curl and Ansible's name no type, or that of forms.
      types: ['*/*'],
      isBodyOptional: true,
      handle,
    };
    return [method as WriteMethod, operation] as const;
  });
  return {
    path,
    bucket: 'api',
    access: { scope: GET === undefined ? 'write' : reading },
    ...(GET === undefined ? {} : { handle: GET }),
    writes: Object.fromEntries(operations),
    keyIn,
    answerError,
  };
}

/** The key of a request: Healthchecks' header, or our own. */
function keyIn({ headers }: HttpRequest): string | undefined {
  const key = headers['x-api-key'];
  return key === undefined ? headers.authorization : `Bearer ${String(key)}`;
}

function answerError({ code, message }: HttpError, request: HttpRequest): HttpResponse {
  const missing = keyIn(request) === undefined ? 'missing api key' : 'wrong api key';
  return {
    status: PROBLEMS[code].status,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ error: code === 'invalid_key' ? missing : message }),
  };
}

async function checksOf({ context }: ApiSources, { key }: CheckReader): Promise<Service[]> {
  const services = await context.registry.servicesOf(key.accountId);
  return services.filter(({ check }) => check.kind === 'heartbeat');
}

/** The check with a UUID, that it has or once had as an imported one, or for reading with a unique key. Throws `service_not_found`. */
async function findByName(sources: ApiSources, reader: CheckReader, name: string): Promise<Service> {
  const hash = hashAddressSecret(name);
  const service = (await checksOf(sources, reader)).find((one) => {
    const uuid = uuidOfCheck(sources.context, one);
    return uuid === name || one.check.addressHash === hash || uniqueKeyOf(uuid) === name;
  });
  if (service === undefined) throw new HttpError('service_not_found', 'not found');
  return service;
}

async function listChecks(sources: ApiSources, reader: CheckReader, query: string) {
  const parameters = new URLSearchParams(query);
  const [tags, slug] = [parameters.getAll('tag'), parameters.get('slug')];
  const checks = (await checksOf(sources, reader)).filter((service) => {
    const own = chosenMembers(sources, service);
    return tags.every((tag) => own.tags.split(' ').includes(tag)) && (!slug || own.slug === slug);
  });
  return await viewChecks(sources, reader, checks);
}

/** Adds a check, or changes the one that `unique` finds. */
async function putCheck(
  sources: ApiSources,
  reader: CheckReader,
  wanted: WantedCheck,
): Promise<{ readonly service: Service; readonly isNew: boolean }> {
  const known = await findUnique(sources, reader, wanted);
  if (known !== null) return { service: await changeCheck(sources, reader, known, wanted), isNew: false };
  await refuseOtherChannels(sources, reader, { id: 0, category: 'developer' }, wanted);
  const slug = wanted.slug || slugOfName(wanted.name ?? '');
  const members = { name: slug, ...membersOfCheck(wanted), slug, isNumbered: true };
  return {
    service: resultOf(await addCheck(sources.context, principalOf(reader.key), members)),
    isNew: true,
  };
}

async function findUnique(
  sources: ApiSources,
  reader: CheckReader,
  wanted: WantedCheck,
): Promise<Service | null> {
  const { unique = [] } = wanted;
  if (unique.length === 0 || unique.some((name) => wanted[name] === undefined)) return null;
  const sought = { ...wanted, tags: wordsOf(wanted.tags ?? '').join(' ') };
  const found = (await checksOf(sources, reader)).find((service) => {
    const own: WantedCheck = chosenMembers(sources, service);
    return unique.every((name) => own[name] === sought[name]);
  });
  return found ?? null;
}

async function changeCheck(
  sources: ApiSources,
  reader: CheckReader,
  service: Service,
  wanted: WantedCheck,
): Promise<Service> {
  const slug = slugOfCheck(service);
  if (wanted.slug && wanted.slug !== slug)
    throw invalid(`slug cannot be changed here: it is ${JSON.stringify(slug)}`);
  await refuseOtherChannels(sources, reader, service, wanted);
  const patch = patchOfCheck(wanted, service);
  const target = anyRevision(service.slug);
  return resultOf(await serviceChanges.patch(sources.context, principalOf(reader.key), target, patch));
}

/** Refuses channels other than those that the rules of the account notify of a check. None leaves them as they are. */
async function refuseOtherChannels(
  { context }: ApiSources,
  { key: { accountId } }: CheckReader,
  service: Pick<Service, 'id' | 'category'>,
  { channels: wanted = '' }: WantedCheck,
): Promise<void> {
  if (wanted === '') return;
  const { registry } = context;
  const [all, rules] = await Promise.all([registry.channelsOf(accountId), registry.rulesOf(accountId)]);
  const notified = new Set(channelsOf(rules, service));
  const chosen = wanted === '*' ? all : wanted.split(',').map((name) => channelNamed(name.trim()));
  function channelNamed(name: string) {
    const [one, ...others] = all.filter(
      (channel) => channel.name === name || viewChannel(context, channel).id === name,
    );
    if (one === undefined) throw invalid(`invalid channel identifier: ${name.slice(0, 100)}`);
    if (others.length > 0) throw invalid(`non-unique channel identifier: ${name.slice(0, 100)}`);
    return one;
  }
  const ids = new Set(chosen.map(({ id }) => id));
  if (ids.size === notified.size && [...ids].every((id) => notified.has(id))) return;
  throw invalid(
    'channels has no equal here: rules of alerts say which channels are notified of a check (docs/alerts.md)',
  );
}

const TYPES = { beat: 'success', start: 'start', fail: 'fail' } as const;

/** The text that a heartbeat brought; empty: none. */
function logOf({ body }: StoredHeartbeat): string {
  const { log = '' }: { readonly log?: string } = JSON.parse(body);
  return log;
}

/** The newest heartbeats with their numbers, and the logs, which have none. Newest first. */
async function listPings({ context, siteUrl }: ApiSources, service: Service, base: string) {
  const { registry } = context;
  const [[summary], beats, logs] = await Promise.all([
    registry.summariesOf([service.id]),
    registry.recentHeartbeats(service.id),
    registry.heartbeatLogs(service.id),
  ]);
  const count = summary?.count ?? beats.length;
  const place = `${siteUrl}${base}/checks/${uuidOfCheck(context, service)}/pings`;
  /** Not kept here. */
  const unknown = { scheme: '', remote_addr: '', method: '', ua: '' };
  const pings = [
    ...beats.map((beat, index) => ({
      at: beat.arrivedAt,
      view: {
        type: TYPES[beat.kind],
        date: formatTime(beat.arrivedAt),
        n: count - index,
        ...unknown,
        rid: beat.run,
        body_url: logOf(beat) === '' ? null : `${place}/${count - index}/body`,
        ...(beat.runMs === null ? {} : { duration: Math.round(beat.runMs / 10) / 100 }),
      },
    })),
    ...logs.map(({ at, run }) => ({
      at,
      view: { type: 'log', date: formatTime(at), n: null, ...unknown, rid: run, body_url: null },
    })),
  ];
  return { pings: pings.toSorted((a, b) => b.at - a.at).map(({ view }) => view) };
}

async function readPingBody({ context: { registry } }: ApiSources, { id }: Service, n: string) {
  const [[summary], beats] = await Promise.all([registry.summariesOf([id]), registry.recentHeartbeats(id)]);
  const beat = beats[(summary?.count ?? 0) - Number(n)];
  const log = beat === undefined ? '' : logOf(beat);
  if (log === '') throw new HttpError('route_not_found', 'not found');
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
  return { status: 200, headers, body: log };
}

/** The changes between down and not down, newest first. */
async function listFlips({ context: { registry }, now }: ApiSources, { id }: Service, query: string) {
  const parameters = new URLSearchParams(query);
  const numberOf = (name: string): number | null => {
    const given = parameters.get(name);
    if (given === null) return null;
    if (!/^\d{1,10}$/.test(given)) throw invalid(`${name} is not a number`);
    return Number(given) * 1_000;
  };
  const seconds = numberOf('seconds');
  const from = Math.max(numberOf('start') ?? 0, seconds === null ? 0 : now() - seconds);
  const transitions = await registry.transitionsOf(id, from, numberOf('end') ?? now() + 1);
  const flips = transitions.filter(
    ({ from: before, to }) => before === 'down' || to === 'down' || before === 'unknown',
  );
  return {
    flips: flips.map(({ at, to }) => ({ timestamp: isoTime(at), up: to === 'down' ? 0 : 1 })),
  };
}
