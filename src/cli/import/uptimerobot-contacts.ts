/** Contacts of UptimeRobot as channels, and rules for the monitors that have them. */
import { MINUTE_MS } from '../../domain/durations.ts';
import { type ChannelReading, readKumaChannel } from './kuma-channels.ts';
import type { Collection, ListedItem } from './listed-content.ts';
import { channelItems, ruleItems, ruleTimes, uniqueNames } from './listed-items.ts';
import { asRow, asText, listOf, type Row, textOf } from './listed-service.ts';

/** Contacts as channels, and a rule for the monitors that have one with equal times. */
export function readContacts(found: Collection, listed: readonly Row[]): ListedItem[] {
  const wanted = found.entries.flatMap((entry) =>
    (listOf(entry.row.assignedAlertContacts) ?? []).map((given) => {
      const contact = asRow(given);
      const id = textOf(contact.id) ?? textOf(contact.alertContactId) ?? '';
      const known = listed.find((one) => textOf(one.id) === id);
      return { id, contact: { ...known, ...contact }, entry };
    }),
  );
  const channelNames = uniqueNames();
  const ruleNames = uniqueNames();
  return [...Map.groupBy(wanted, ({ id }) => id).values()].flatMap((ofContact): ListedItem[] => {
    const contact = asRow(ofContact[0]?.contact);
    const label =
      textOf(contact.friendly_name) ?? textOf(contact.friendlyName) ?? `contact ${ofContact[0]?.id ?? ''}`;
    const reading = readContact(contact);
    if ('problem' in reading) {
      found.skip(label, reading.problem);
      return [];
    }
    for (const { field, reason } of reading.lost) found.lose(label, field, reason);
    const channels = channelItems(() => channelNames(label), reading);
    const alike = Map.groupBy(ofContact, ({ contact: one }) => JSON.stringify(timesOf(one)));
    const rules = [...alike.values()].flatMap((equal) =>
      ruleItems(
        () => ruleNames(label),
        equal.map(({ entry }) => entry.service),
        channels,
        timesOf(asRow(equal[0]?.contact)),
      ),
    );
    return [...channels, ...rules];
  });
}

/** The delay before an alert and the time between reminders, which are in minutes there. */
function timesOf(contact: Row): object {
  const [after, repeat] = [contact.threshold, contact.recurrence].map((value) => Number(value) * MINUTE_MS);
  return { events: ['down', 'up'], ...ruleTimes(Number(after), Number(repeat)) };
}

/** The channel of a contact, which its value tells. */
function readContact(contact: Row): ChannelReading {
  const value = asText(contact.value);
  const type = textOf(contact.type)?.toLowerCase() ?? '';
  if (value === null) return { problem: 'the file has only its number' };
  if ((type === '2' || type === 'email') && value.includes('@'))
    return readKumaChannel({ config: { type: 'smtp', smtpTo: value } });
  const address = URL.parse(value);
  const path = address?.pathname ?? '';
  if (address?.hostname === 'hooks.slack.com')
    return readKumaChannel({ config: { type: 'slack', slackwebhookURL: value } });
  if (/^(?:\w+\.)?discord(?:app)?\.com$/.test(address?.hostname ?? '') && path.startsWith('/api/webhooks/'))
    return readKumaChannel({ config: { type: 'discord', discordWebhookUrl: value } });
  return { problem: `contacts of type "${type.slice(0, 40)}" have no equal in this import` };
}
