/** PagerDuty and Opsgenie, as their documentation describes them. */
import { list, oneOf, shape, text, url, wrongShape } from './receiver-checks.ts';
import type { Receiver, Reply } from './receivers.ts';

const PAGERDUTY_KEY = 'k'.repeat(32);
const PAGERDUTY = {
  oneOf: [
    shape({ routing_key: text(32), event_action: oneOf('acknowledge', 'resolve'), dedup_key: text(255) }),
    shape({
      routing_key: text(32),
      event_action: { const: 'trigger' },
      dedup_key: text(255),
      payload: shape({
        summary: text(1_024),
        source: text(255),
        severity: oneOf('critical', 'error', 'warning', 'info'),
        timestamp: text(40, { format: 'time' }),
        class: text(255),
        custom_details: { type: 'object', additionalProperties: { type: 'string' } },
      }),
      links: list(shape({ href: url(), text: text(255) }), 20),
      client: text(255),
      client_url: url(),
    }),
  ],
};
const pagerdutyError = (...errors: readonly string[]): Reply => ({
  status: 400,
  body: { status: 'invalid event', message: 'Event object is invalid', errors },
});
const pagerduty: Receiver = {
  kind: 'pagerduty',
  settings: () => ({ key: PAGERDUTY_KEY }),
  refused: [
    {
      settings: () => ({ key: 'x'.repeat(32) }),
      problem: { code: 'status', statusCode: 400, text: "Event object is invalid; 'routing_key' is invalid" },
    },
  ],
  take(request, { taken }) {
    if (request.method !== 'POST' || request.path !== '/v2/enqueue') return { status: 404 };
    if (Buffer.byteLength(request.body) > 512 * 1024) return { status: 413 };
    const wrong = wrongShape(PAGERDUTY, request.json);
    if (wrong !== null) return pagerdutyError(wrong);
    const { routing_key, dedup_key } = request.json as { routing_key: string; dedup_key: string };
    if (routing_key !== PAGERDUTY_KEY) return pagerdutyError("'routing_key' is invalid");
    taken.push({ json: request.json, thread: dedup_key });
    return { status: 202, body: { status: 'success', message: 'Event processed', dedup_key } };
  },
  tooMany: {
    status: 429,
    body: { status: 'throttle exceeded', message: 'Requests for this service are arriving too quickly.' },
  },
  retryAfterMs: undefined,
  threads: 'thread',
};

const OPSGENIE_KEY = '12345678-90ab-cdef-1234-567890abcdef';
const OPSGENIE_CREATE = shape({
  message: text(130),
  alias: text(512),
  description: text(15_000),
  entity: text(512),
  source: text(100),
  priority: oneOf('P1', 'P2', 'P3', 'P4', 'P5'),
  tags: list(text(50), 20),
  details: { type: 'object', additionalProperties: { type: 'string' } },
});
const OPSGENIE_PRIORITY = shape({ priority: oneOf('P1', 'P2', 'P3', 'P4', 'P5') });
const OPSGENIE_ACT = shape({ source: text(100), note: text(25_000) });
const opsgenieError = (status: number, message: string): Reply => ({
  status,
  body: { message, took: 0.1, requestId: 'r' },
});
const opsgenie: Receiver = {
  kind: 'opsgenie',
  settings: () => ({ key: OPSGENIE_KEY, region: 'eu' }),
  refused: [
    {
      settings: () => ({ key: 'not-a-key', region: 'eu' }),
      problem: { code: 'status', statusCode: 422, text: 'Key format is not valid!' },
    },
    {
      settings: () => ({ key: '00000000-0000-0000-0000-000000000000', region: 'eu' }),
      problem: { code: 'status', statusCode: 401, text: 'Could not authenticate' },
    },
  ],
  take(request, { taken }) {
    const [, key = ''] = /^GenieKey (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    if (!/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(key))
      return opsgenieError(422, 'Key format is not valid!');
    if (key !== OPSGENIE_KEY) return opsgenieError(401, 'Could not authenticate');
    const [, alias, action] =
      /^\/v2\/alerts(?:\/([^/]+)\/(close|acknowledge|notes|priority))?$/.exec(request.path) ?? [];
    if (request.method !== (action === 'priority' ? 'PUT' : 'POST') || !request.path.startsWith('/v2/alerts'))
      return opsgenieError(404, 'not found');
    if (action !== undefined && request.query.get('identifierType') !== 'alias')
      return opsgenieError(404, 'Alert does not exist');
    const form = action === 'priority' ? OPSGENIE_PRIORITY : OPSGENIE_ACT;
    const wrong = wrongShape(action === undefined ? OPSGENIE_CREATE : form, request.json);
    if (wrong !== null) return opsgenieError(422, wrong);
    const thread = alias ?? (request.json as { alias: string }).alias;
    taken.push({ json: { action: action ?? 'create', ...(request.json as object) }, thread });
    return { status: 202, body: { result: 'Request will be processed', took: 0.1, requestId: 'r' } };
  },
  tooMany: {
    status: 429,
    headers: {
      'x-ratelimit-state': 'THROTTLED',
      'x-ratelimit-reason': 'ACCOUNT',
      'x-ratelimit-period-in-sec': '60',
    },
    body: { message: 'You are making too many requests!', took: 0.1, requestId: 'r' },
  },
  retryAfterMs: 60_000,
  threads: 'thread',
};

/** Services that keep incidents. */
export const INCIDENT_RECEIVERS: readonly Receiver[] = [pagerduty, opsgenie];
