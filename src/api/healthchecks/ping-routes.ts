/**
 * The ping addresses of Healthchecks (https://healthchecks.io/docs/http_api/): `/ping/<uuid>`, where the UUID is the secret of a
 * heartbeat address, and `/ping/<key>/<slug>`, where the key is an API key that may send heartbeats. They report as `/beat/<secret>` does, and
 * answer as Healthchecks does. `RequestServer` puts `/<uuid>` below `/ping`.
 */

import {
  hashAddressSecret,
  MAX_LOG_LENGTH,
  readAddressSignal,
  UUID_FORM,
} from '../../domain/heartbeat/heartbeat-rules.ts';
import type { KeyScope } from '../../domain/role.ts';
import type { Service } from '../../domain/service.ts';
import { HttpError, PROBLEMS, type ProblemCode } from '../../http/problem.ts';
import { type HttpRequest, type HttpResponse, type Route, requireAccess } from '../../http/route.ts';
import { anyRevision } from '../../resources/kit/create-changes.ts';
import { principalOf, resultOf } from '../../resources/kit/write-route.ts';
import { serviceChanges } from '../../resources/services/services.ts';
import type { AddressSources } from '../heartbeat-addresses.ts';
import { createSignalTaker, requireSignalMethod } from '../take-signal.ts';
import {
  addCheck,
  type CheckContext,
  DEFAULT_TIMES,
  findCheck,
  findCheckBySlug,
  isCheckSlug,
} from './checks.ts';

export interface PingSources extends AddressSources {
  /** Null: this site has no owners, so that no check is added. */
  readonly context: CheckContext | null;
}

const UUID = new RegExp(`^${UUID_FORM}$`);

const TEXT = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Access-Control-Allow-Origin': '*',
  // Clients cut bodies to it. Every character has at least one byte.
  'Ping-Body-Limit': String(MAX_LOG_LENGTH),
};

const BAD_SLUG =
  'A slug has at most 63 lower-case letters, digits, dashes and underscores, begins with a letter or a digit, and is not a number.';

/** Errors that Healthchecks does not tell from a missing check. */
const MISSING: ReadonlySet<ProblemCode> = new Set([
  'invalid_key',
  'address_not_found',
  'service_not_found',
  'route_not_found',
]);

/** A check, its signal, and whether the request has added the check. */
interface Pinged {
  readonly service: Service;
  readonly part: string;
  readonly isNew: boolean;
}

export function pingRoutes({ context, directory, ...sources }: PingSources): Route[] {
  const { heartbeats } = sources;
  const takeAndAnswer = createSignalTaker(sources);

  const byUuid = ({ params: { secret = '' } }: HttpRequest): Service | null =>
    UUID.test(secret) ? directory.byAddressHash(hashAddressSecret(secret)) : null;

  const findByKey = async ({ params, key, query }: HttpRequest): Promise<Pinged> => {
    const { name: slug = '', signal: part = '' } = params;
    requireAccess({ scope: 'heartbeat' satisfies KeyScope }, key ?? null);
    if (key === undefined) throw notFound();
    if (slug !== slug.toLowerCase()) throw new HttpError('bad_request', 'invalid url format');
    const { accountId } = key;
    const known = await findCheck(directory, context?.registry ?? null, { accountId, slug });
    if (known !== null) return { service: known, part, isNew: false };
    const isWanted = new URLSearchParams(query).get('create') === '1' && readAddressSignal(part) !== null;
    if (!isWanted || context === null) throw notFound();
    if (!isCheckSlug(slug)) throw new HttpError('bad_request', BAD_SLUG);
    const wanted = { slug, isNumbered: false, name: slug, ...DEFAULT_TIMES };
    const added = await addCheck(context, principalOf(key), wanted);
    // Of the first pings of a check, which may arrive together, one adds it.
    const other = added.ok ? null : await findCheck(directory, context.registry, { accountId, slug });
    return { service: other ?? resultOf(added), part, isNew: other === null };
  };

  const findByUuid = (request: HttpRequest): Pinged => {
    const service = byUuid(request);
    if (service === null || request.params.signal !== undefined) throw notFound();
    return { service, part: request.params.name ?? '', isNew: false };
  };

  /** Ends the pause of a heartbeat service, as a ping does with Healthchecks: jobs that run again are watched again. */
  const resume = async ({ slug, accountId, check }: Service): Promise<void> => {
    if (context === null || accountId === null || check.kind !== 'heartbeat') return;
    const principal = { role: 'operator', accountId } as const;
    resultOf(await serviceChanges.patch(context, principal, anyRevision(slug), { paused: false }));
  };

  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    requireSignalMethod(request);
    const { secret = '' } = request.params;
    const { service, part, isNew } = await (UUID.test(secret) ? findByUuid : findByKey)(request);
    const signal = readAddressSignal(part);
    if (signal === null) throw notFound();
    if (service.paused && signal.kind !== 'log') await resume(service);
    const status = signal.kind === 'beat' ? 'ok' : null;
    const taken = await takeAndAnswer(
      { service, signal, status, request },
      { type: TEXT['Content-Type'], body: isNew ? 'Created' : 'OK' },
    );
    return { ...taken, status: isNew ? 201 : 200, headers: { ...taken.headers, ...TEXT } };
  };

  const route = (path: string): Route => ({
    path,
    bucket: 'api',
    isHeartbeat: true,
    access: 'secret',
    anyMethod: true,
    handle,
    // A key in the path is the one that counts; with a UUID none is needed, and none is read.
    keyIn: ({ params: { secret = '', name } }) =>
      UUID.test(secret) || name === undefined ? undefined : `Bearer ${secret}`,
    // Many jobs with one key ping at the full hour.
    payer(request) {
      const { params, key } = request;
      const { name: slug = '' } = params;
      if (key?.scopes.includes('heartbeat') === false) return null;
      const service =
        key === undefined ? byUuid(request) : findCheckBySlug(directory, { accountId: key.accountId, slug });
      if (service === null) return null;
      const part = key === undefined ? params.name : params.signal;
      return `${part === 'log' ? 'logs of ' : ''}service ${service.id}`;
    },
    answerError,
    onFault: () => heartbeats.noteRefusal(),
  });
  return ['/ping/:secret', '/ping/:secret/:name', '/ping/:secret/:name/:signal'].map(route);
}

function notFound(): HttpError {
  return new HttpError('address_not_found', 'not found');
}

function answerError({ code, message }: HttpError): HttpResponse {
  const isMissing = MISSING.has(code);
  return {
    status: isMissing ? 404 : PROBLEMS[code].status,
    headers: TEXT,
    body: isMissing ? 'not found' : message,
  };
}
