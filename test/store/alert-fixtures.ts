/** Channels, rules and messages of alerts for tests. */
import type { Test } from 'tap';
import type { AlertMessage } from '../../src/domain/alert/message.ts';
import type { Registry } from '../../src/store/ports/registry.ts';
import type { OpenForTest } from './registry-contract.ts';
import { NOON } from './registry-fixtures.ts';

export const NO_SERVICES = { own: false, services: [], categories: [], publicCategories: [], pages: [] };

/** A channel of an account before it is stored. */
export const channelOf = (accountId: number, name = 'ops') =>
  ({
    accountId,
    name,
    kind: 'slack',
    settings: { url: 'https://hooks.example/T0/secret' },
    language: 'en',
    confirmedAt: NOON,
    createdAt: NOON,
  }) as const;

/** A rule of an account before it is stored: its own services go to these channels. */
export const ruleOf = (accountId: number, channels: readonly number[], name = 'all') => ({
  accountId,
  name,
  of: { ...NO_SERVICES, own: true },
  events: ['down', 'up'] as const,
  channels,
  afterMs: 0,
  repeatMs: null,
  quiet: null,
  enabled: true,
  createdAt: NOON,
});

/** A message. */
export const messageOf = (thread: string, values: Partial<AlertMessage> = {}): AlertMessage => ({
  type: 'alert',
  thread,
  urgency: 'high',
  at: NOON,
  items: [],
  total: 1,
  cause: null,
  rule: 'all',
  url: 'https://upbeat.example/dashboard',
  acknowledgeUrl: null,
  note: null,
  ...values,
});

/** Two accounts, of which the first has a channel. */
export async function open2(t: Test, open: OpenForTest, dataDir?: string) {
  const registry = await open(t, dataDir);
  const { id: ada } = await registry.ensureAccount('ada', NOON);
  const { id: grace } = await registry.ensureAccount('grace', NOON);
  const channel = await registry.addChannel(channelOf(ada));
  const decide = async (messages: readonly AlertMessage[], channelId = channel.id, now = NOON) =>
    registry.commitAlerts({
      position: 0,
      states: [],
      messages: messages.map((message) => ({ channelId, message })),
      acknowledgements: [],
      rulesVersion: await registry.rulesVersion(),
      now,
    });
  return { registry, ada, grace, channel, decide };
}

/** Settles the first message of a channel. */
export async function deliver(registry: Registry, now: number, reference?: string) {
  const [due] = await registry.dueMessages(now, 1);
  if (due === undefined) throw new Error('nothing is due');
  const settled = {
    ...{ id: due.id, wasDueAt: due.dueAt, triedAt: now, at: now },
    ...{ deliveredAt: now, problem: null, dueAt: null },
  };
  await registry.noteMessage(reference === undefined ? settled : { ...settled, reference });
  return due;
}
