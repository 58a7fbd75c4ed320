/** What every kind of channel must do, against a server that holds the documented API of its service. */
import { Ajv } from 'ajv';
import type { Test } from 'tap';
import { type Clock, systemClock } from '../../../src/clock.ts';
import type { ChannelKind, ChannelSettings } from '../../../src/domain/alert/channel.ts';
import type { AlertMessage } from '../../../src/domain/alert/message.ts';
import type { ChannelTools, SendResult } from '../../../src/notify/channels/define-channel.ts';
import { CHANNEL_KINDS_TABLE } from '../../../src/notify/channels/kinds-table.ts';
import { SEND_TIMEOUT_MS } from '../../../src/notify/channels/send-request.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { RECEIVERS, type Receiver, startReceiver } from './receivers.ts';
import { BEGAN_AT, HOSTILE_MESSAGE, LONGEST_MESSAGES, SAMPLES } from './sample-messages.ts';

const kindOf = ({ kind }: Receiver) => CHANNEL_KINDS_TABLE[kind];

/** A service, and a function that sends it a message. Hosted services are reached at the server of the test. */
async function start(
  t: Test,
  receiver: Receiver,
  { clock = systemClock, allowPrivate = ['127.0.0.0/8'] }: { clock?: Clock; allowPrivate?: string[] } = {},
) {
  const server = await startReceiver(receiver);
  const outbound = createOutbound({ userAgent: 'Upbeat/test', nameservers: [] }, clock);
  const tools: ChannelTools = {
    outbound: {
      request: (request) =>
        outbound.request({
          ...request,
          url: request.url.replace(/^https:\/\/(?=[a-z])/, `${server.origin}/`),
        }),
    },
    policy: { allowPrivate, ports: [80, 443] },
    mailer: null,
    clock,
    siteUrl: 'https://status.example.org',
  };
  t.teardown(async () => {
    outbound.close();
    await server.close();
  });
  const settings = receiver.settings(server.origin);
  const send = (
    message: AlertMessage,
    {
      settings: given = settings,
      language = 'en',
      reference = null,
      id = 'msg_1',
      signal = new AbortController().signal,
    }: {
      settings?: ChannelSettings;
      language?: 'en' | 'de';
      reference?: string | null;
      id?: string;
      signal?: AbortSignal;
    } = {},
  ): Promise<SendResult> =>
    kindOf(receiver).send(tools, {
      channel: {
        id: 1,
        accountId: 1,
        name: 'Ops',
        kind: receiver.kind,
        settings: given,
        language,
        confirmedAt: BEGAN_AT,
        createdAt: BEGAN_AT,
        revision: 1,
      },
      message,
      reference,
      id,
      signal,
    });
  return { ...server, settings, send };
}

const nameOf = ({ name, kind }: Receiver) => name ?? kind;

/** Tests a kind against every server that it has. */
export function testChannel(t: Test, kind: ChannelKind): void {
  for (const receiver of RECEIVERS.filter((one) => one.kind === kind))
    t.test(`${nameOf(receiver)}`, async (t) => {
      const { state, taken, send, origin, settings } = await start(t, receiver);

      t.test('it delivers every kind of message in both languages', async (t) => {
        for (const [name, message] of Object.entries(SAMPLES))
          for (const language of ['en', 'de'] as const) {
            const result = await send(message, { language, id: `${name}-${language}` });
            t.match(result, { outcome: 'delivered' }, `${name} ${language}`);
          }
      });

      t.test('it delivers names that want to mention, link or format, and the longest texts', async (t) => {
        for (const [at, message] of [HOSTILE_MESSAGE, ...LONGEST_MESSAGES].entries())
          t.match(await send(message, { id: `hostile-${at}` }), { outcome: 'delivered' });
      });

      t.test('it puts update, reminder and recovery where the alert is', async (t) => {
        const alert = await send(SAMPLES.alert, { id: 'alert' });
        t.match(alert, { outcome: 'delivered' });
        const reference = alert.outcome === 'delivered' ? (alert.reference ?? null) : null;
        const keeps = receiver.threads === 'reference' || receiver.edits !== undefined;
        t.equal(reference !== null, keeps || receiver.kind === 'opsgenie');
        const begun = reference?.split(' ')[0] ?? null;
        for (const name of ['update', 'reminder', 'recovery'] as const) {
          const result = await send(SAMPLES[name], { reference, id: name });
          t.match(result, { outcome: 'delivered' });
          const isKept = result.outcome === 'delivered' && [undefined, begun].includes(result.reference);
          t.ok(isKept, `${name}: the thread stays the same`);
          const { thread } = taken.at(-1) ?? { thread: null };
          const expected = { reference: begun, thread: SAMPLES.alert.thread, none: null };
          t.equal(thread, expected[receiver.threads], name);
        }
      });

      t.test('it edits the alert that another one replaces, where the service can', async (t) => {
        const referenceOf = (result: SendResult) =>
          result.outcome === 'delivered' ? (result.reference ?? null) : null;
        const reference = referenceOf(await send(SAMPLES.alert, { id: 'first' }));
        const replacing: AlertMessage = { ...SAMPLES.alert, total: 3, replaces: true };
        const [begun, newest] = reference?.split(' ') ?? [];
        for (const id of ['second', 'second again']) {
          const result = await send(replacing, { reference, id });
          t.match(result, { outcome: 'delivered' });
          t.equal(taken.at(-1)?.edited, receiver.edits === undefined ? undefined : newest);
          if (receiver.edits !== undefined) t.equal(referenceOf(result), null, 'it is still the newest');
        }
        if (receiver.edits === undefined) return;
        const after = await send(SAMPLES.update, { reference, id: 'update' });
        t.equal(referenceOf(after), begun);
        const answer = await send(replacing, { reference: referenceOf(after), id: 'third' });
        t.equal(taken.at(-1)?.edited, undefined, 'what was said in between is not replaced');
        t.match(referenceOf(answer)?.split(' '), [begun, String]);
        state.mood = { reply: { status: 502 } };
        const [edits, before] = [state.requests.length, taken.length];
        t.match(await send(replacing, { reference, id: 'fourth' }), { outcome: 'failed' });
        t.same(
          [state.requests.length - edits, taken.length - before],
          [1, 0],
          'it is tried again, not posted',
        );
        state.mood = null;
        if (receiver.edits === true) return;
        const lost = await send(replacing, { reference: `${begun} ${receiver.edits}`, id: 'fifth' });
        t.equal(taken.at(-1)?.edited, undefined, 'a message that is gone is said anew');
        t.match(referenceOf(lost)?.split(' '), [begun, String]);
      });

      t.test('it opens a new thread where the old one is gone', async (t) => {
        if (receiver.threads !== 'reference' || ['telegram', 'matrix'].includes(receiver.kind)) return;
        const gone = receiver.kind === 'mattermost' ? 'zzzzzzzzzzzzzzzzzzzzzzzzzz' : '1.1';
        const result = await send(SAMPLES.recovery, { reference: gone });
        t.match(result, { outcome: 'delivered', reference: String });
        t.equal(taken.at(-1)?.thread, null);
      });

      t.test('it reads each refusal, and shows no secret', async (t) => {
        for (const { settings, problem, outcome = 'refused' } of receiver.refused)
          t.same(await send(SAMPLES.alert, { settings: settings(origin) }), { outcome, problem });
        const secrets = Object.entries(settings).filter(
          ([name]) => kindOf(receiver).settings.properties[name]?.writeOnly === true,
        );
        t.ok(secrets.length > 0);
        const echo = secrets.map(([, value]) => value).join(' ');
        state.mood = { reply: { status: 500, body: `${echo}\n${'x'.repeat(900)}` } };
        const result = await send(SAMPLES.alert);
        state.mood = null;
        const said = JSON.stringify(result);
        t.match(result, { outcome: 'failed', problem: { code: 'status', statusCode: 500 } });
        for (const [, value] of secrets) t.notOk(said.includes(String(value)), 'no secret');
        t.ok(said.length < 400);
      });

      t.test('it reads when it is asked to slow down, and for how long', async (t) => {
        state.mood = { reply: receiver.tooMany };
        const result = await send(SAMPLES.alert);
        state.mood = null;
        const { retryAfterMs } = receiver;
        t.same(result, {
          outcome: 'failed',
          problem: { code: 'too_many', statusCode: 429 },
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        });
      });

      t.test('it tries again after faults and redirects of the service', async (t) => {
        for (const status of [500, 502, 301, 408]) {
          state.mood = { reply: { status, headers: { location: `${origin}/elsewhere` } } };
          const problem = { code: 'status', statusCode: status, text: '' };
          t.same(await send(SAMPLES.alert), { outcome: 'failed', problem });
        }
        state.mood = { reply: { status: 503, headers: { 'retry-after': '120' } } };
        t.match(await send(SAMPLES.alert), { outcome: 'failed', retryAfterMs: 120_000 });
        state.mood = null;
      });

      t.test('it reads no more of a body without end than it needs', async (t) => {
        state.mood = 'endless';
        const result = await send(SAMPLES.test);
        state.mood = null;
        if (receiver.needsBody === true)
          t.match(result, {
            outcome: 'failed',
            problem: { code: 'failed', failure: { cause: { code: 'body_too_long' } } },
          });
        else t.match(result, { outcome: 'delivered' });
      });

      t.test('it gives up after 15 seconds, and when it is told to', async (t) => {
        const clock = createFakeClock(BEGAN_AT);
        const slow = await start(t, receiver, { clock });
        slow.state.mood = 'hangs';
        const asked = () => new Promise<void>((resolve) => (slow.state.onRequest = resolve));
        let arrived = asked();
        const sending = slow.send(SAMPLES.alert);
        await arrived;
        await clock.advance(SEND_TIMEOUT_MS);
        t.match(await sending, {
          outcome: 'failed',
          problem: { code: 'failed', failure: { class: 'timeout' } },
        });
        const stop = new AbortController();
        arrived = asked();
        const aborted = slow.send(SAMPLES.alert, { signal: stop.signal });
        await arrived;
        stop.abort(new Error('the program ends'));
        await t.rejects(aborted, { message: 'the program ends' });
      });

      t.test('it goes to no address that is not public', async (t) => {
        const guarded = await start(t, receiver, { allowPrivate: [] });
        const failure = { class: 'forbidden_address' };
        t.match(await guarded.send(SAMPLES.alert), {
          outcome: 'failed',
          problem: { code: 'failed', failure },
        });
        t.equal(guarded.state.requests.length, 0);
      });

      t.test('it has settings that its own checks accept, and a description without secrets', async (t) => {
        const { settings: schema, refuse, describe } = kindOf(receiver);
        const validate = new Ajv({ strict: false }).compile(schema);
        t.ok(validate(settings), JSON.stringify(validate.errors));
        t.notOk(validate({ ...settings, other: 1 }), 'no other settings');
        t.same(refuse?.(settings), []);
        const described = describe(settings);
        t.not(described, '');
        for (const [name, property] of Object.entries(schema.properties)) {
          t.match(property, { title: /\S/, description: /\S/ }, name);
          const value = settings[name];
          if (property.writeOnly === true && value !== undefined)
            t.notOk(described.includes(String(value)), name);
          // A line break in a token would end its header.
          if (typeof value === 'string' && property.enum === undefined)
            t.match(refuse?.({ ...settings, [name]: `${value}\r\nx: y` }), [
              { setting: name, problem: { code: 'format' } },
            ]);
        }
      });
    });
}

/** A kind's service, and a function that sends it a message. */
export async function startKind(t: Test, kind: ChannelKind) {
  const receiver = RECEIVERS.find((one) => one.kind === kind);
  if (receiver === undefined) throw new Error(`no server of ${kind}`);
  return { receiver, ...(await start(t, receiver)) };
}
