/** The channels of `alerts.operator`, with their settings validated by the schemas of their kinds. */
import { ConfigError, type ConfigProblem } from '../config/config-error.ts';
import type { Config } from '../config/resolve-config.ts';
import type { Channel } from '../domain/alert/channel.ts';
import { ANY_DESTINATION } from '../domain/allowed-destinations.ts';
import { describeRefusal } from '../domain/refusal.ts';
import { type ChannelKinds, readChannelSettings } from '../resources/channels/channels.ts';

/** The channels; their ids are 0. Throws a `ConfigError` that names each wrong setting, without its value. */
export function operatorChannels({ alerts }: Pick<Config, 'alerts'>, kinds: ChannelKinds): Channel[] {
  const problems: ConfigProblem[] = [];
  const channels = alerts.operator.map(({ kind, language = 'en', settings }, index): Channel => {
    const name = `alerts.operator.${index}`;
    const note = (path: string, message: string) => problems.push({ path, message, place: null });
    if (kinds[kind] === undefined) note(`${name}.kind`, `there is no kind ${kind}`);
    // A start does not fail for an address: it is judged when it is connected to.
    const rules = { kinds, destinations: ANY_DESTINATION };
    const reading = readChannelSettings(rules, kind, settings, null);
    if (!reading.ok)
      for (const { field, refusal } of reading.refusals)
        note(field === null ? name : `${name}.${field}`, describeRefusal(refusal));
    return { id: 0, accountId: 0, name, kind, settings, language, confirmedAt: 0, createdAt: 0, revision: 0 };
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return channels;
}
