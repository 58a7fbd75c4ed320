/** The receivers of e-mail channels: they are asked before anything else is sent, and left alone when the mail server refuses them. */
import { readMailAddress } from '../../../domain/mail-address.ts';
import { MAX_CHANNEL_CONFIRMATIONS_PER_DAY, MAX_REFUSALS } from '../../../domain/subscription.ts';
import { readChannelAddress } from '../../../resources/channels/channel-rows.ts';
import { noteRuleChange } from '../../../resources/rules/rule-rows.ts';
import { countToday } from '../../database/fact-rows.ts';
import { addNotice } from '../../database/notice-rows.ts';
import type { OpenRegistry } from '../../database/registry-calls.ts';
import type { RegistryStore } from '../../database/registry-store.ts';
import { countRecipient, digestMailbox, makeSecret } from './subscription-rows.ts';

/** Maximum number of channels whose receivers are asked in a call. */
const MAX_ASKED = 20;

/** As `LetterStore.askChannels` describes it. */
export async function askChannels(registry: OpenRegistry, now: number): Promise<number> {
  const { kysely, queries, secrets } = registry;
  const rows = await queries.all(
    kysely
      .selectFrom('channels')
      .leftJoin('channel_confirmations', 'channel_confirmations.channel_id', 'channels.id')
      .select(['channels.id', 'channels.account_id', 'channels.settings', 'mailbox'])
      .where('kind', '=', 'email')
      .where('confirmed_at', 'is', null)
      .orderBy('channels.id')
      .orderBy('channel_confirmations.created_at', 'desc'),
  );
  let asked = 0;
  const seen = new Set<number>();
  for (const { id, account_id: accountId, settings, mailbox: before } of rows) {
    if (seen.has(id)) continue;
    seen.add(id);
    const address = readMailAddress(await readChannelAddress(registry, settings));
    if (address === null || asked >= MAX_ASKED) continue;
    const mailbox = await digestMailbox(registry, address);
    if (mailbox === before) continue;
    const isAllowed =
      (await countToday(registry, `account ${accountId}`, now, MAX_CHANNEL_CONFIRMATIONS_PER_DAY)) &&
      (await countRecipient(registry, address, now));
    if (!isAllowed) continue;
    const { secret, sha256 } = makeSecret();
    await queries.run(kysely.deleteFrom('channel_confirmations').where('channel_id', '=', id));
    await queries.run(
      kysely.insertInto('channel_confirmations').values({ sha256, channel_id: id, mailbox, created_at: now }),
    );
    await queries.run(
      kysely
        .insertInto('letters')
        .values({ channel_id: id, secret: (await secrets.box()).seal(secret), due_at: now, created_at: now }),
    );
    asked++;
  }
  return asked;
}

/** As `LetterStore.turnOffChannels` describes it. */
export async function turnOffChannels(store: RegistryStore, now: number): Promise<number> {
  const { kysely, queries } = store;
  const settled = kysely.selectFrom('alert_messages').where('due_at', 'is', null);
  const suspects = await queries.all(
    settled
      .innerJoin('channels', 'channels.id', 'alert_messages.channel_id')
      .select(['channels.id', 'channels.account_id', 'channels.name', 'channels.confirmed_at'])
      .distinct()
      .where('channels.kind', '=', 'email')
      .where('channels.confirmed_at', 'is not', null)
      .where('delivered_at', 'is', null)
      .where('problem', 'like', '%"mail_refused"%'),
  );
  let turnedOff = 0;
  for (const { id, account_id: accountId, name, confirmed_at: confirmedAt } of suspects) {
    const last = await queries.all(
      settled
        .select('problem')
        .where('channel_id', '=', id)
        .where('created_at', '>=', confirmedAt ?? now)
        .orderBy('turn', 'desc')
        .limit(MAX_REFUSALS),
    );
    if (last.length < MAX_REFUSALS || !last.every(({ problem }) => isRefusal(problem))) continue;
    await queries.run(
      kysely
        .updateTable('channels')
        .set(({ eb }) => ({ confirmed_at: null, revision: eb('revision', '+', 1) }))
        .where('id', '=', id),
    );
    await noteRuleChange(store);
    await addNotice(store, accountId, now, { code: 'channel_refused', name });
    turnedOff++;
  }
  return turnedOff;
}

/** Returns true if a stored problem is a refusal for good: a reply of 500 or more. */
function isRefusal(problem: string | null): boolean {
  const { code = '', text = '' } = (problem === null ? {} : JSON.parse(problem)) as Partial<
    Record<'code' | 'text', string>
  >;
  return code === 'mail_refused' && text.startsWith('5');
}
