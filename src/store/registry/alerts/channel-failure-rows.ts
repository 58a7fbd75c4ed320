/** Channels to which nothing can be delivered, and the word to their accounts. */
import { describeChannelProblem } from '../../../domain/alert/channel.ts';
import type { AlertMessage } from '../../../domain/alert/message.ts';
import { addNotice } from '../../database/notice-rows.ts';
import { type Calls, read, write } from '../../database/registry-calls.ts';
import type { RegistryStore } from '../../database/registry-store.ts';
import type { FailingChannel, MessageStore } from '../../ports/channels.ts';
import { addMessages } from './message-rows.ts';

export const CHANNEL_FAILURE_CALLS = {
  failingChannels: read(failingChannels),
  tellFailingChannel: write(tellFailingChannel),
} satisfies Partial<Calls<MessageStore>>;

async function failingChannels({ kysely, queries }: RegistryStore, since: number): Promise<FailingChannel[]> {
  const rows = await queries.all(
    kysely
      .selectFrom('channel_failures')
      .innerJoin('channels', 'channels.id', 'channel_failures.channel_id')
      .select(['channel_id as channelId', 'account_id as accountId', 'name', 'since', 'problem'])
      .where('told_at', 'is', null)
      .where('since', '<=', since)
      .orderBy('channel_id'),
  );
  return rows.map(({ problem, ...row }) => ({
    ...row,
    problem: problem === null ? null : JSON.parse(problem),
  }));
}

async function tellFailingChannel(
  store: RegistryStore,
  { channelId, accountId, name, problem }: FailingChannel,
  message: AlertMessage,
  now: number,
): Promise<void> {
  const { kysely, queries } = store;
  const told = await queries.run(
    kysely
      .updateTable('channel_failures')
      .set({ told_at: now })
      .where('channel_id', '=', channelId)
      .where('told_at', 'is', null),
  );
  if (told === 0) return;
  const other = await queries.first(
    kysely
      .selectFrom('channels')
      .select('id')
      .where('account_id', '=', accountId)
      .where('confirmed_at', 'is not', null)
      .where('id', 'not in', kysely.selectFrom('channel_failures').select('channel_id'))
      .orderBy('id')
      .limit(1),
  );
  if (other !== undefined) await addMessages(store, [{ channelId: other.id, message }], now);
  else {
    const said = problem === null ? '' : describeChannelProblem(problem);
    await addNotice(store, accountId, now, { code: 'channel_failing', name, problem: said });
  }
}
