/**
 * The text of a message in a language: the first line, which is all that a phone shows, facts, texts and links. Each kind of
 * channel writes it in its own form. All foreign text is on one line, without control characters, and cut.
 */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import {
  type AlertMessage,
  countStates,
  MESSAGE_STATES,
  type MessageItem,
  type StateCounts,
  stateOf,
} from '../../domain/alert/message.ts';
import { asText, type Phrase, phraseOf, time } from '../../language/phrase.ts';
import { FORMATS, SHARED_TEXTS } from '../../language/shared-texts.ts';
import { cleanLine, cleanLines } from './message-cut.ts';
import { MESSAGE_WORDS, type MessageWords, type Told } from './message-words.ts';

/** The tone of a message: `bad` is down, `warning` is not good, `good` is over, `info` is neither. */
export type Tone = 'bad' | 'warning' | 'good' | 'info';

/** A fact: a name and what is known. */
export interface Fact {
  readonly label: string;
  readonly value: Phrase;
  /** A page about it; absent: there is none. */
  readonly url?: string;
}

export interface MessageText {
  readonly tone: Tone;
  /** The news in one line of at most 250 characters. */
  readonly title: string;
  readonly facts: readonly Fact[];
  /** Foreign or explaining text with line breaks, at most 600 characters; empty: there is none. */
  readonly text: string;
  /** Of a group: its services, at most 10. Empty: the message is about one service at most. */
  readonly services: readonly { readonly name: string; readonly url: string; readonly text: string }[];
  /** Of a group with more services than `services`: how many more; null: these are all. */
  readonly more: string | null;
  /** The page that shows it, then the one to acknowledge it, if there is one. */
  readonly links: readonly { readonly label: string; readonly url: string }[];
}

const MAX_NAME_LENGTH = 100;
const MAX_TITLE_LENGTH = 250;
const MAX_WHY_LENGTH = 200;
const MAX_TEXT_LENGTH = 600;
const MAX_SERVICES = 10;
const MAX_REGIONS = 8;

/** The circle before the first line, where a medium has no colour. */
export const TONE_MARKS: Readonly<Record<Tone, string>> = {
  bad: '🔴',
  warning: '🟡',
  good: '🟢',
  info: '🔵',
};
/** The colour of each tone, RGB. */
export const TONE_COLOURS: Readonly<Record<Tone, number>> = {
  bad: 0xc62828,
  warning: 0xf9a825,
  good: 0x2e7d32,
  info: 0x1565c0,
};

export function renderMessage(message: AlertMessage, language: MessageLanguage): MessageText {
  const text = renderNews(message, language);
  const { dropped = 0 } = message;
  if (dropped === 0) return text;
  const words = MESSAGE_WORDS[language];
  const fact = {
    label: words.dropped,
    value: [words.droppedText(dropped, FORMATS[language].number(dropped))],
  };
  return { ...text, facts: [...text.facts, fact] };
}

function renderNews(message: AlertMessage, language: MessageLanguage): MessageText {
  const words = MESSAGE_WORDS[language];
  const [item] = message.items;
  const isGroup = message.total > 1;
  const told = item === undefined ? null : tellOf(item, language);
  const base = {
    tone: toneOf(message),
    title: cleanLine(titleOf(message, words, language), MAX_TITLE_LENGTH),
  };
  const links = [
    { label: words.open, url: message.url },
    ...(message.acknowledgeUrl === null ? [] : [{ label: words.acknowledge, url: message.acknowledgeUrl }]),
  ];
  if (item === undefined || told === null)
    return {
      ...base,
      facts: noteFacts(message, words),
      text: noteText(message, words),
      services: [],
      more: null,
      links,
    };
  const rest = message.total - Math.min(message.items.length, MAX_SERVICES);
  return {
    ...base,
    facts: isGroup ? groupFacts(message, item, words, language) : itemFacts(message, item, words, language),
    text: isGroup ? '' : textOf(item, words),
    services: listServices(message, words, language),
    more: isGroup && rest > 0 ? words.more(FORMATS[language].number(rest)) : null,
    links,
  };
}

export function plainPhrase(phrase: Phrase, language: MessageLanguage): string {
  return asText(phrase, FORMATS[language], 0);
}

/** The lines after the title as plain text, the most important first; links are left out. */
export function plainLines(text: MessageText, language: MessageLanguage): string[] {
  return [
    ...text.facts.map(({ label, value }) => `${label}: ${plainPhrase(value, language)}`),
    ...(text.text === '' ? [] : text.text.split('\n')),
    ...text.services.map(({ name, text: line }) => `• ${name}${line === '' ? '' : `: ${line}`}`),
    ...(text.more === null ? [] : [text.more]),
  ];
}

function toneOf({ type, urgency, items }: AlertMessage): Tone {
  if (type === 'test' || type === 'acknowledged') return 'info';
  // A maintenance is planned: it is neither good nor bad, and its end says nothing of health.
  if (items.length > 0 && items.every(({ event }) => event === 'maintenance')) return 'info';
  if (type === 'recovery' && items.some(({ status, ended }) => status === 'down' && ended === undefined))
    return 'warning';
  if (type === 'recovery' || type === 'prober_online') return 'good';
  if (urgency === 'high' || type === 'prober_offline') return 'bad';
  return urgency === 'normal' ? 'warning' : items.every(({ status }) => status === 'up') ? 'good' : 'info';
}

function titleOf(message: AlertMessage, words: MessageWords, language: MessageLanguage): string {
  const { type, note } = message;
  switch (type) {
    case 'test':
      return words.test;
    case 'channel_failing':
      return words.channelFails(
        cleanLine(note !== null && 'channel' in note ? note.channel : '', MAX_NAME_LENGTH),
      );
    case 'prober_offline':
      return words.offline;
    case 'prober_online':
      return words.online;
    case 'acknowledged': {
      const by = note !== null && 'by' in note ? cleanLine(note.by, MAX_NAME_LENGTH) : '';
      return words.acknowledged(by, newsTitle(message, words, language));
    }
    default:
      return newsTitle(message, words, language);
  }
}

/** The news of one service in a sentence for each thing, of several in numbers. */
function newsTitle(message: AlertMessage, words: MessageWords, language: MessageLanguage): string {
  const { type, items, total } = message;
  if (total > 1) return groupTitle(message, words, language);
  const say = type === 'reminder' ? stillTitle : itemTitle;
  return items.map((item) => say(item, words, language)).join('; ');
}

/** The number of services in each state, the worst first: "4 services are down, 1 is up". */
function groupTitle(message: AlertMessage, words: MessageWords, language: MessageLanguage): string {
  const { type, items } = message;
  const counts = countsOf(message);
  const states = type === 'reminder' ? { ...words.states, ...words.stillStates } : words.states;
  const lasted = type === 'recovery' ? longest(items, language) : '';
  const { number } = FORMATS[language];
  const clauses = MESSAGE_STATES.flatMap((state): ((isFirst: boolean) => string)[] => {
    const n = counts[state] ?? 0;
    if (n === 0) return [];
    return [(isFirst) => states[state](n, isFirst ? words.services(n, number(n)) : number(n), lasted)];
  });
  const title = clauses.map((clause, index) => clause(index === 0)).join(', ');
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** The services by state. Of those that an earlier version did not describe it is known only that they are there. */
function countsOf({ counts, items, total }: AlertMessage): StateCounts {
  if (counts !== undefined) return counts;
  const described = countStates(items);
  const [worst] = MESSAGE_STATES.filter((state) => described[state] !== undefined);
  const rest = total - new Set(items.map(({ service }) => service.id)).size;
  return worst === undefined ? {} : { ...described, [worst]: (described[worst] ?? 0) + Math.max(0, rest) };
}

/** The news of one service. */
function itemTitle(item: MessageItem, words: MessageWords, language: MessageLanguage): string {
  const told = tellOf(item, language);
  if (item.ended !== undefined) return words.unwatched[item.ended](told.name);
  if (item.flapping !== null) {
    const { changes, withinMs } = item.flapping;
    return words.flaps(told.name, changes, FORMATS[language].length(withinMs));
  }
  // The service of an update may have recovered.
  if (item.lastedMs === null) return words.began[item.event](told);
  return stateOf(item) === 'down' ? words.relapsed(told) : words.ended[item.event](told);
}

function stillTitle(item: MessageItem, words: MessageWords, language: MessageLanguage): string {
  return item.status === 'down' && item.flapping === null && item.incident === null
    ? words.still(tellOf(item, language))
    : itemTitle(item, words, language);
}

function longest(items: readonly MessageItem[], language: MessageLanguage): string {
  const lengths = items.flatMap(({ lastedMs }) => (lastedMs === null ? [] : [lastedMs]));
  return lengths.length === 0 ? '' : FORMATS[language].length(Math.max(...lengths));
}

/** The services of a group. What is the same of all of them stands at the first alone, in the facts. */
function listServices(
  message: AlertMessage,
  words: MessageWords,
  language: MessageLanguage,
): MessageText['services'] {
  if (message.total < 2) return [];
  const listed = message.items.slice(0, MAX_SERVICES).map((item) => ({
    name: nameOf(item),
    url: item.service.url,
    text: cleanLine(lineOf(message, item, words, language), MAX_WHY_LENGTH),
  }));
  const [first] = message.items;
  const why = first === undefined ? '' : tellOf(first, language).why;
  const isSame = listed.every(({ text }) => text === why);
  return isSame ? listed.map((one) => ({ ...one, text: '' })) : listed;
}

/** The line of one service in the list of a group. */
function lineOf(
  message: AlertMessage,
  item: MessageItem,
  words: MessageWords,
  language: MessageLanguage,
): string {
  const { why, title } = tellOf(item, language);
  if (item.because !== undefined) return `${words.because} ${cleanLine(item.because.name, MAX_NAME_LENGTH)}`;
  if (item.ended !== undefined || item.flapping !== null || item.event === 'certificate')
    return itemTitle(item, words, language);
  if (item.lastedMs !== null && stateOf(item) === 'down') return words.relapsed(tellOf(item, language));
  if (message.type === 'recovery' || item.lastedMs !== null)
    return item.lastedMs === null ? '' : FORMATS[language].length(item.lastedMs);
  return why !== '' ? why : title !== '' ? title : SHARED_TEXTS[language].status[item.status];
}

function nameOf({ service }: MessageItem): string {
  return cleanLine(service.name, MAX_NAME_LENGTH);
}

function tellOf(item: MessageItem, language: MessageLanguage): Told {
  const { incident, maintenance, certificate, lastedMs, scope, status } = item;
  const shared = SHARED_TEXTS[language];
  return {
    name: nameOf(item),
    why: whyOf(item, language),
    title: cleanLine(incident?.title ?? maintenance?.title ?? '', MAX_WHY_LENGTH),
    state: incident === null ? '' : shared.incidentStatus[incident.status],
    lasted: lastedMs === null ? '' : FORMATS[language].length(lastedMs),
    days: certificate?.days ?? 0,
    places: placesOf(item),
    scope: scope ?? 'none',
    phase: maintenance?.phase ?? 'running',
    isSlow: status === 'slow',
  };
}

function whyOf({ reason, because, lastedMs }: MessageItem, language: MessageLanguage): string {
  if (because !== undefined && lastedMs === null)
    return MESSAGE_WORDS[language].unreached(cleanLine(because.name, MAX_NAME_LENGTH));
  return reason === null ? '' : cleanLine(SHARED_TEXTS[language].reason(reason), MAX_WHY_LENGTH);
}

function placesOf({ regions }: MessageItem): string {
  const shown = regions.slice(0, MAX_REGIONS).map((region) => cleanLine(region, 40));
  return regions.length > MAX_REGIONS ? `${shown.join(', ')}, …` : shown.join(', ');
}

function itemFacts(
  { type, rule, cause }: AlertMessage,
  item: MessageItem,
  words: MessageWords,
  language: MessageLanguage,
): Fact[] {
  const { since, lastedMs, lastGoodAt, phase, scope, vendor, incident, maintenance, certificate, reason } =
    item;
  const told = tellOf(item, language);
  const isOver = type === 'recovery' || lastedMs !== null;
  const isTimed = certificate === null && maintenance === null;
  const facts: (Fact | false)[] = [
    isTimed && { label: isOver || incident !== null ? words.beganAt : words.since, value: [time(since)] },
    isTimed && lastedMs !== null && { label: words.endedAt, value: [time(since + lastedMs)] },
    // The title says why something began; of the others a fact does.
    type === 'recovery' && told.why !== '' && { label: words.why, value: [told.why] },
    phase !== null && reason !== null && !isOver && { label: words.phaseLabel, value: [words.phase[phase]] },
    !isOver &&
      scope !== null &&
      told.places !== '' && {
        label: words.places,
        value: [`${told.places} (${scope === 'global' ? words.everywhere : words.notEverywhere})`],
      },
    item.because !== undefined && {
      label: words.because,
      value: [cleanLine(item.because.name, MAX_NAME_LENGTH)],
    },
    item.behind !== undefined && { label: words.behind, value: [words.behindCount(item.behind)] },
    vendor !== null && {
      label: words.vendor,
      value: [cleanLine(vendor.title, MAX_WHY_LENGTH)],
      url: vendor.url,
    },
    lastGoodAt !== null && !isOver && { label: words.lastGood, value: [time(lastGoodAt)] },
    incident !== null && {
      label: words.severity,
      value: [SHARED_TEXTS[language].severity[incident.severity]],
    },
    incident !== null && { label: words.state, value: [told.state] },
    maintenance !== null && { label: words.starts, value: [time(maintenance.startsAt)] },
    maintenance !== null &&
      maintenance.endsAt !== null && { label: words.ends, value: [time(maintenance.endsAt)] },
    certificate !== null && { label: words.ends, value: [time(certificate.endsAt)] },
    cause !== null && {
      label: words.commonCause,
      value: [words.cause[cause.kind](cleanLine(cause.name, MAX_NAME_LENGTH))],
    },
    rule !== null && { label: words.rule, value: [cleanLine(rule, MAX_NAME_LENGTH)] },
  ];
  return facts.filter((fact) => fact !== false);
}

function groupFacts(
  { type, at, cause, rule }: AlertMessage,
  first: MessageItem,
  words: MessageWords,
  language: MessageLanguage,
): Fact[] {
  const { name, why } = tellOf(first, language);
  return [
    { label: type === 'recovery' ? words.beganAt : words.since, value: [time(at)] },
    { label: words.first, value: phraseOf`${name}${why === '' ? '' : `: ${why}`}` },
    ...(cause === null
      ? []
      : [
          {
            label: words.commonCause,
            value: [words.cause[cause.kind](cleanLine(cause.name, MAX_NAME_LENGTH))],
          },
        ]),
    ...(rule === null ? [] : [{ label: words.rule, value: [cleanLine(rule, MAX_NAME_LENGTH)] }]),
  ];
}

function textOf(item: MessageItem, words: MessageWords): string {
  if (item.flapping !== null) return words.flapsText;
  return cleanLines(item.incident?.text ?? item.maintenance?.text ?? '', MAX_TEXT_LENGTH);
}

function noteFacts({ type, at, note }: AlertMessage, words: MessageWords): Fact[] {
  const isState = type === 'prober_offline' || type === 'channel_failing';
  return [
    { label: isState ? words.since : words.at, value: [time(at)] },
    ...(note !== null && 'problem' in note
      ? [{ label: words.why, value: [cleanLine(note.problem, MAX_WHY_LENGTH)] }]
      : []),
  ];
}

function noteText({ type }: AlertMessage, words: MessageWords): string {
  if (type === 'test') return words.testText;
  if (type === 'prober_offline') return words.offlineText;
  return type === 'channel_failing' ? words.channelFailsText : '';
}
