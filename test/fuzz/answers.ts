/** What answers to the program's own requests: receivers of alerts and webhooks, and providers of identities. */
import { createIdentityProvider } from '../../src/auth/openid-provider.ts';
import { systemClock } from '../../src/clock.ts';
import { DAY_MS } from '../../src/domain/durations.ts';
import { NO_TIMING } from '../../src/domain/result.ts';
import { silentLog } from '../../src/log.ts';
import { CHANNEL_KINDS_TABLE } from '../../src/notify/channels/kinds-table.ts';
import { startWebhookSender } from '../../src/notify/webhook-sender.ts';
import type { OutboundResponse } from '../../src/outbound/outbound.ts';
import type { DeliveryOutcome } from '../../src/store/ports/webhooks.ts';
import { RECEIVERS } from '../notify/channels/receivers.ts';
import { SAMPLES } from '../notify/channels/sample-messages.ts';
import { double } from '../support/double.ts';
import type { FuzzTarget } from './fuzz.ts';

/** A response of an outgoing request: a line with the status, a line with headers, and the body. */
function responseOf(input: Buffer): OutboundResponse {
  const [status = '', header = '', ...body] = input.toString().split('\n');
  const [name = 'x', value = ''] = header.split(/:(.*)/s);
  return {
    status: Math.abs(Number.parseInt(status, 10) || 200) % 600,
    headers: { [name.toLowerCase()]: value.trim() },
    body: Buffer.from(body.join('\n')),
    fault: null,
    timing: NO_TIMING,
    url: 'https://receiver.example/',
  };
}

const RESPONSES = [
  '200\ncontent-type: application/json\n{"ok":true,"result":{"message_id":7},"id":"1","event_id":"$a","status":1}',
  '429\nretry-after: 120\n{"ok":false,"parameters":{"retry_after":5},"retry_after":0.5}',
  '400\nx: y\n{"ok":false,"error":"invalid_auth","description":"Bad Request","errors":["a"]}',
  '503\nretry-after: Fri, 20 Nov 2026 10:00:00 GMT\noverloaded',
];
const channels = RECEIVERS.map((receiver): FuzzTarget => {
  const { kind, name = kind } = receiver;
  const settings = receiver.settings('https://receiver.example');
  const { send, settings: schema } = CHANNEL_KINDS_TABLE[kind];
  const secrets = Object.entries(settings)
    .filter(([setting]) => schema.properties[setting]?.writeOnly === true)
    .map(([, value]) => String(value))
    .filter((value) => value.length > 6);
  return {
    weight: 0.3,
    name: `answer-of-${name.replaceAll(/[^a-z]+/g, '-')}`,
    // Some receivers repeat what they were sent.
    examples: [...RESPONSES, ...secrets.map((secret) => `401\nx: y\nno such token: ${secret}`)],
    async read(input) {
      const response = responseOf(input);
      const result = await send(
        {
          ...{ outbound: { request: async () => response }, policy: { allowPrivate: [], ports: [443] } },
          ...{ mailer: null, clock: systemClock, siteUrl: 'https://status.example' },
        },
        {
          channel: {
            id: 1,
            accountId: 1,
            name: 'x',
            kind,
            settings,
            language: 'en',
            confirmedAt: 0,
            createdAt: 0,
            revision: 1,
          },
          message: SAMPLES.alert,
          ...{ reference: null, id: 'msg_1', signal: new AbortController().signal },
        },
      );
      if (result.outcome === 'delivered') return;
      const said = JSON.stringify(result);
      if (said.length > 2_000) throw new Error('the problem repeats the answer');
      if (secrets.some((secret) => said.includes(secret))) throw new Error(`a secret is in ${said}`);
    },
  };
});

const WEBHOOK_SECRET = `whsec_${'QUJD'.repeat(8)}`;
/** A receiver of an owner's webhook: whatever it says, the delivery succeeded, ends or is made again within a day. */
const webhook: FuzzTarget = {
  name: 'answer-of-owners-webhook',
  weight: 0.3,
  examples: [
    ...RESPONSES,
    '204\nx: y\n',
    '410\nx: y\ngone',
    `302\nlocation: http://127.0.0.1/\n${WEBHOOK_SECRET}`,
  ],
  async read(input) {
    const response = responseOf(input);
    const due = {
      ...{ id: 1, message: 'msg_1', webhookId: 1, type: 'service.status_changed', body: '{}' },
      ...{ createdAt: 0, dueAt: 0, attempts: 0, deliveredAt: null, problem: null },
      ...{ url: 'https://receiver.example/', secret: WEBHOOK_SECRET },
    };
    const noted = Promise.withResolvers<DeliveryOutcome>();
    const sender = startWebhookSender({
      siteUrl: 'https://upbeat.test',
      registry: double({
        dueDeliveries: async () => [due],
        hasDeliveries: async () => true,
        noteDelivery: async (outcome) => noted.resolve(outcome),
        forgetDeliveries: async () => 0,
      }),
      outbound: double({ request: async () => response }),
      ...{ policy: { allowPrivate: [], ports: [443] }, retentionNow: async () => 0 },
      ...{
        counter: double({ note() {}, drop() {} }),
        clock: systemClock,
        random: () => 0,
        log: silentLog,
        isOurs: () => true,
      },
    });
    const outcome = await noted.promise;
    await sender.stop();
    const { deliveredAt, dueAt } = outcome;
    if ((deliveredAt !== null) !== (response.status >= 200 && response.status < 300))
      throw new Error(`status ${response.status} counts as ${deliveredAt === null ? 'failed' : 'delivered'}`);
    if (deliveredAt !== null && dueAt !== null) throw new Error('what was delivered is made again');
    if (dueAt !== null && !(dueAt > systemClock.now() - 60_000 && dueAt <= systemClock.now() + DAY_MS))
      throw new Error(`it is made again at ${dueAt}`);
    const said = JSON.stringify(outcome);
    if (said.length > 1_000 || said.includes(WEBHOOK_SECRET)) throw new Error(`it says ${said}`);
  },
};

const ISSUER = 'https://id.example';
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/a`,
  token_endpoint: `${ISSUER}/t`,
  jwks_uri: `${ISSUER}/j`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
};
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const unsigned = `${part({ alg: 'none' })}.${part({ iss: ISSUER, sub: 'mallory', aud: 'upbeat', nonce: 'n', exp: 9e9, iat: 1 })}.`;
const signIn: FuzzTarget = {
  name: 'identity-provider',
  weight: 0.5,
  examples: [
    `${JSON.stringify(METADATA)}\n{"access_token":"a","token_type":"bearer","id_token":"${unsigned}"}\n{"keys":[]}\ncode=c&state=s`,
    `${JSON.stringify(METADATA)}\n{"access_token":"a","token_type":"bearer","id_token":"a.b.c"}\n{"id":7,"login":"ada"}\ncode=c&state=s&iss=${encodeURIComponent(ISSUER)}`,
  ],
  async read(input) {
    const [metadata = '', token = '', rest = '', query = ''] = input.toString().split('\n');
    const request = async ({ url }: { readonly url: string }): Promise<OutboundResponse> => {
      const body = url.includes('.well-known')
        ? metadata
        : url.endsWith('/t') || url.includes('access_token')
          ? token
          : rest;
      return {
        ...responseOf(Buffer.from('200\ncontent-type: application/json\n')),
        url,
        body: Buffer.from(body),
      };
    };
    const flow = { state: 's', nonce: 'n', codeVerifier: 'v'.repeat(43) };
    for (const kind of ['oidc', 'github'] as const) {
      const provider = createIdentityProvider(
        {
          id: 'x',
          kind,
          ...(kind === 'oidc' ? { issuer: ISSUER } : {}),
          clientId: 'upbeat',
          clientSecret: 'client-secret-0a1b2c',
        },
        { outbound: { request } },
      );
      try {
        const callback = String(
          new URL(`https://status.example/sign-in/x/callback?${query.replaceAll(/[^\x21-\x7e]/g, '')}`),
        );
        const identity = await provider.finish(callback, flow);
        // GitHub's answers are not signed: TLS vouches for them.
        if (kind === 'oidc') throw new RangeError(`it takes ${JSON.stringify(identity)} without a signature`);
      } catch (error) {
        if (!(error instanceof Error) || error.constructor.name !== 'SignInError') throw error;
      }
    }
  },
};

/** All of them. */
export const ANSWERS: readonly FuzzTarget[] = [...channels, webhook, signIn];
