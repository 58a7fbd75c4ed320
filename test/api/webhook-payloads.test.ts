/** What webhooks send, as the OpenAPI document and docs/webhooks.md describe it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { RETRY_AFTER_MS } from '../../src/domain/delivery-retries.ts';
import { formatDuration } from '../../src/domain/durations.ts';
import { INCIDENT_STATUSES } from '../../src/domain/incident/incident.ts';
import { cloudEventBody, type WebhookEvent, webhookBody } from '../../src/domain/webhook-event.ts';
import { alertBody } from '../../src/notify/channels/webhook.ts';
import { createMessageId, createWebhookSecret, signatureHeaders } from '../../src/notify/webhook-sender.ts';
import { SAMPLES } from '../notify/channels/sample-messages.ts';
import { incident, NOW, startApi } from '../site/site-world.ts';
import { documentSchemas } from '../support/document-schemas.ts';

interface Document {
  readonly webhooks: Readonly<
    Record<
      string,
      {
        readonly post: {
          readonly requestBody: {
            readonly content: {
              readonly 'application/json': { readonly schema: object; readonly example: object };
            };
          };
        };
      }
    >
  >;
  readonly components: object;
}

const DOCS = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');
const codeOf = (language: string) =>
  [...DOCS.matchAll(new RegExp(`\\n\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code);

const SERVICE = { slug: 'shop', name: 'Shop', domain: 'shop.example' };
const turn = (from: 'up' | 'slow' | 'down' | 'unknown', to: 'up' | 'slow' | 'down') => ({
  from,
  to,
  at: NOW,
  reason: to === 'up' ? null : ({ code: 'slow_response', responseTimeMs: 4_000 } as const),
});

/** Events of every type, and of every form that a type has. */
const EVENTS: readonly WebhookEvent[] = [
  { type: 'service.status_changed', service: SERVICE, transition: turn('up', 'slow') },
  { type: 'service.status_changed', service: SERVICE, transition: turn('unknown', 'up') },
  {
    type: 'service.status_changed',
    service: SERVICE,
    transition: { ...turn('up', 'down'), scope: { from: null, to: 'global', regions: ['eu', 'us'] } },
  },
  {
    type: 'service.status_changed',
    service: SERVICE,
    transition: { ...turn('down', 'up'), scope: { from: 'global', to: null, regions: [] } },
  },
  {
    type: 'service.scope_changed',
    service: SERVICE,
    transition: { ...turn('up', 'up'), scope: { from: 'partial', to: null, regions: [] } },
  },
  ...INCIDENT_STATUSES.map((status): WebhookEvent => {
    const resolvedAt = status === 'resolved' ? NOW : null;
    return { type: 'incident.updated', service: SERVICE, incident: incident('i', 1, { status, resolvedAt }) };
  }),
  { type: 'incident.opened', service: SERVICE, incident: incident('v', 1, { source: 'vendor' }) },
  { type: 'incident.resolved', service: SERVICE, incident: incident('i', 1, { severity: 'maintenance' }) },
  { type: 'test', message: 'It works.' },
];

t.test('it sends what the document describes, and documents every type', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const { webhooks, components } = (await world.get('/api/v1/openapi.json')).json as Document;
  const validatorOf = documentSchemas(components, { allErrors: true });
  const validators = new Map(
    Object.entries(webhooks).map(([type, { post }]) => {
      const { schema, example } = post.requestBody.content['application/json'];
      const validate = validatorOf(schema);
      t.ok(validate(example), `${type}: ${JSON.stringify(validate.errors)}`);
      return [type, validate] as const;
    }),
  );
  const bodies = [
    ...EVENTS.map((event) => webhookBody(event, NOW)),
    ...Object.values(SAMPLES).map((message) => alertBody(message, 'de')),
  ].map((body) => JSON.parse(body));
  t.strictSame([...new Set(bodies.map(({ type }) => type))].sort(), [...validators.keys()].sort());
  for (const body of bodies)
    for (const [type, validate] of validators)
      t.equal(validate(body), type === body.type, `${JSON.stringify(body)} is ${type}`);
});

t.test('docs/webhooks.md shows each payload as it is sent', async (t) => {
  const world = await startApi();
  t.teardown(world.close);
  const { webhooks } = (await world.get('/api/v1/openapi.json')).json as Document;
  const examples = Object.values(webhooks).map(
    ({ post }) => post.requestBody.content['application/json'].example,
  );
  t.strictSame(
    codeOf('json').map((code) => JSON.parse(code)),
    examples,
  );
  t.strictSame(
    [...DOCS.matchAll(/^### `(.*)`$/gm)].map(([, type]) => type),
    Object.keys(webhooks),
  );
});

t.test('docs/webhooks.md shows a CloudEvent as it is sent', async (t) => {
  const [, shown = ''] = codeOf('http')[0]?.split('\n\n') ?? [];
  const body = webhookBody({ type: 'test', message: 'It works.' }, NOW);
  const event = cloudEventBody({ message: 'msg_2f0c8a', type: 'test', body }, 'https://status.example.org');
  t.strictSame(JSON.parse(shown), JSON.parse(event));
});

t.test('docs/webhooks.md says when a message is sent again', async (t) => {
  const [, said = ''] = /sent again after (.*? and \d+ h),/s.exec(DOCS) ?? [];
  const delays = said.split(/, | and /).map((delay) => delay.replace(' min', 'm').replace(' ', ''));
  t.strictSame(delays, RETRY_AFTER_MS.map(formatDuration));
});

t.test('the code of docs/webhooks.md accepts genuine messages and no others', async (t) => {
  const [code = ''] = codeOf('js');
  const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    readonly isGenuine: (secret: string, headers: object, body: string, nowSeconds: number) => boolean;
  };
  const secret = createWebhookSecret();
  const body = webhookBody({ type: 'test', message: 'ü' }, NOW);
  const headers = signatureHeaders(secret, { id: createMessageId(), at: NOW, body });
  const now = NOW / 1_000;
  t.equal(isGenuine(secret, headers, body, now), true);
  const rotated = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` };
  t.equal(isGenuine(secret, rotated, body, now), true, 'one of several signatures');
  const table: readonly [string, string, object, string, number][] = [
    ['another secret', createWebhookSecret(), headers, body, now],
    ['another body', secret, headers, `${body} `, now],
    ['another id', secret, { ...headers, 'webhook-id': 'msg_x' }, body, now],
    ['another time', secret, { ...headers, 'webhook-timestamp': String(now + 1) }, body, now],
    ['an old message', secret, headers, body, now + 301],
    ['no headers', secret, {}, body, now],
  ];
  for (const [what, key, given, text, at] of table) t.equal(isGenuine(key, given, text, at), false, what);
});
