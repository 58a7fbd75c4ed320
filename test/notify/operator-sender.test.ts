/** What the operator is told of the prober's own connection. */
import t from 'tap';
import type { Channel } from '../../src/domain/alert/channel.ts';
import { Type } from '../../src/json-schema.ts';
import { silentLog } from '../../src/log.ts';
import type { ChannelKindParts, SendResult } from '../../src/notify/channels/define-channel.ts';
import { startOperatorSender } from '../../src/notify/operator-sender.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const NOW = Date.UTC(2026, 0, 1);
const SECOND = 1_000;

const channel: Channel = {
  ...{ id: 0, accountId: 0, name: 'alerts.operator.0', kind: 'slack', settings: {} },
  ...{ language: 'en', confirmedAt: 0, createdAt: 0, revision: 0 },
};

t.test('it tells each channel that the prober is offline, then online, once and over restarts', async (t) => {
  const clock = createFakeClock(NOW);
  const facts = new Map<string, string>();
  const heard: string[] = [];
  const prober: { online: boolean; offlineSince: number | null } = { online: true, offlineSince: null };
  let channels: readonly Channel[] = [channel, { ...channel, name: 'alerts.operator.1', language: 'de' }];
  const state = { answer: { outcome: 'delivered', reference: 'r' } as SendResult, isMonitor: true };
  const kind: ChannelKindParts = {
    settings: Type.Object({}),
    describe: () => '',
    async send(_, { channel, message, reference }) {
      heard.push(`${channel.language} ${message.type} ${message.thread} ${reference}`);
      return state.answer;
    },
  };
  const start = () =>
    startOperatorSender({
      channels: () => channels,
      kinds: { slack: kind },
      registry: {
        getFact: async (name) => facts.get(name) ?? null,
        setFact: async (name, value) => void facts.set(name, value),
      },
      tools: {
        outbound: { request: () => Promise.reject(new Error('nothing is requested')) },
        policy: { allowPrivate: [], ports: [] },
        mailer: null,
        clock,
        siteUrl: 'https://upbeat.example',
      },
      log: silentLog,
      prober: () => prober,
      isMonitor: () => state.isMonitor,
    });
  let sender = start();
  await clock.advance(5 * SECOND);
  t.same(heard, []);
  Object.assign(prober, { online: false, offlineSince: NOW + 3 * SECOND });
  state.answer = { outcome: 'failed', problem: { code: 'text', text: 'no connection' } };
  await clock.advance(10 * SECOND);
  t.same(new Set(heard).size, 2, 'one for each channel');
  t.equal(heard.length, 4, 'tried again after 5 s');
  await sender.stop();
  sender = start();
  heard.length = 0;
  state.answer = { outcome: 'delivered', reference: 'r' };
  await clock.advance(10 * SECOND);
  const told = `prober-${NOW + 3 * SECOND}`;
  t.same(heard, [`en prober_offline ${told} null`, `de prober_offline ${told} null`], 'what waited is sent');
  await sender.stop();
  sender = start();
  await clock.advance(10 * SECOND);
  t.equal(heard.splice(0).length, 2, 'it was told before the restart');
  Object.assign(prober, { online: true, offlineSince: null });
  state.isMonitor = false;
  await clock.advance(10 * SECOND);
  t.same(heard, []);
  state.isMonitor = true;
  await clock.advance(10 * SECOND);
  const thread = `prober-${NOW + 3 * SECOND}`;
  t.same(heard, [`en prober_online ${thread} r`, `de prober_online ${thread} r`]);
  await clock.advance(60 * SECOND);
  t.equal(heard.splice(0).length, 2);

  state.answer = { outcome: 'failed', problem: { code: 'text', text: 'no connection' } };
  Object.assign(prober, { online: false, offlineSince: NOW });
  await clock.advance(2 * SECOND);
  channels = [{ ...channel, language: 'de' }];
  state.answer = { outcome: 'delivered' };
  heard.length = 0;
  await clock.advance(10 * SECOND);
  t.same(heard, [`de prober_offline prober-${NOW} r`], 'the channels of a changed configuration are told');
  await sender.stop();
  const stored = JSON.parse(facts.get('operator-messages') ?? '');
  t.same(stored, {
    since: NOW,
    waiting: [],
    references: { 'alerts.operator.0': 'r', 'alerts.operator.1': 'r' },
  });
});
