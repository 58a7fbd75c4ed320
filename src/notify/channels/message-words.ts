/** The words of messages in each language. A sentence is one entry, since languages differ in word order. */

import type { CommonCause } from '../../domain/alert/message.ts';
import type { AlertEventName } from '../../domain/alert/rule.ts';
import type { Phase } from '../../domain/failure.ts';
import type { LanguageCode } from '../../language/shared-texts.ts';

/** What a sentence about one service is made of. */
export interface Told {
  readonly name: string;
  /** Why, without a full stop; empty: not known. */
  readonly why: string;
  /** Of an incident or a maintenance; empty: there is none. */
  readonly title: string;
  /** Words for the status of the incident; empty: there is none. */
  readonly state: string;
  /** How long it lasted, as text; empty: not known. */
  readonly lasted: string;
  /** Of a certificate: days until it ends. */
  readonly days: number;
  /** Regions in which it fails, joined; empty: not known. */
  readonly places: string;
  /** Where it fails now: everywhere, in some regions, nowhere. */
  readonly scope: 'global' | 'partial' | 'none';
  /** Of a maintenance. */
  readonly phase: 'planned' | 'running' | 'ended';
  /** Whether it answers again, but slowly. */
  readonly isSlow: boolean;
}

type Sentence = (told: Told) => string;
type Sentences = Readonly<Record<AlertEventName, Sentence>>;
/** Kinds of groups: what all services of it have in common. `mixed`: nothing. */
export type GroupKind = 'down' | 'up' | 'slow' | 'incident' | 'maintenance' | 'certificate' | 'mixed';

/** The words of a language. */
export interface MessageWords {
  /** What began, by event. */
  readonly began: Sentences;
  /** What is over, by the event that began it. */
  readonly ended: Sentences;
  /** What still goes on. */
  readonly still: Sentence;
  /** Nothing more will be told of the service, although it is not over. */
  readonly unwatched: Readonly<Record<'paused' | 'removed', (name: string) => string>>;
  readonly flaps: (name: string, changes: number, within: string) => string;
  readonly groupBegan: Readonly<Record<GroupKind, (count: string) => string>>;
  readonly groupEnded: (count: string, lasted: string) => string;
  readonly groupStill: Readonly<Record<GroupKind, (count: string) => string>>;
  /** `by` may be empty. */
  readonly acknowledged: (by: string, what: string) => string;
  readonly test: string;
  readonly testText: string;
  readonly channelFails: (channel: string) => string;
  readonly channelFailsText: string;
  readonly offline: string;
  readonly offlineText: string;
  readonly online: string;
  readonly cause: Readonly<Record<CommonCause['kind'], (name: string) => string>>;
  /** Names of facts. */
  readonly since: string;
  readonly at: string;
  readonly beganAt: string;
  readonly endedAt: string;
  readonly why: string;
  readonly phaseLabel: string;
  readonly phase: Readonly<Record<Phase, string>>;
  readonly places: string;
  readonly everywhere: string;
  readonly notEverywhere: string;
  readonly vendor: string;
  readonly lastGood: string;
  readonly first: string;
  readonly commonCause: string;
  readonly severity: string;
  readonly state: string;
  readonly starts: string;
  readonly ends: string;
  readonly rule: string;
  readonly flapsText: string;
  readonly dropped: string;
  /** So many earlier messages to the channel were dropped. */
  readonly droppedText: (count: number, shown: string) => string;
  /** `count` services more than those that are listed. */
  readonly more: (count: string) => string;
  readonly open: string;
  readonly acknowledge: string;
}

const because = (sentence: string, why: string) => (why === '' ? sentence : `${sentence}: ${why}`);

const english: MessageWords = {
  began: {
    down: ({ name, why }) => because(`${name} is down`, why),
    up: ({ name, isSlow }) => `${name} is up${isSlow ? ', but slow' : ''}`,
    slow: ({ name, why }) => because(`${name} is slow`, why),
    incident: ({ name, title }) => because(name, title),
    incident_update: ({ name, title, state }) => `${name}: ${title} (${state})`,
    vendor_incident: ({ name, title, state }) => `${name}: the vendor reports "${title}" (${state})`,
    maintenance: ({ name, title, phase }) =>
      because(
        phase === 'planned'
          ? `Maintenance of ${name} is planned`
          : `Maintenance of ${name} has ${phase === 'running' ? 'begun' : 'ended'}`,
        title,
      ),
    certificate: ({ name, days }) =>
      `The certificate of ${name} expires within ${days === 1 ? 'a day' : `${days} days`}`,
    heartbeat_missed: ({ name, why }) => because(`${name} is silent`, why),
    run_failed: ({ name, why }) => because(`A run of ${name} failed`, why),
    scope: ({ name, scope, places }) =>
      scope === 'none'
        ? `${name} no longer fails in any region`
        : scope === 'global'
          ? `${name} now fails everywhere`
          : because(`${name} now fails in some regions`, places),
  },
  ended: {
    down: (told) => englishUp(told),
    up: (told) => englishUp(told),
    slow: ({ name, lasted }) => `${name} is fast again${after(lasted)}`,
    incident: ({ name, title, lasted }) => `${name}: resolved${after(lasted)}: ${title}`,
    incident_update: ({ name, title, lasted }) => `${name}: resolved${after(lasted)}: ${title}`,
    vendor_incident: ({ name, title, lasted }) =>
      `${name}: the vendor has resolved "${title}"${after(lasted)}`,
    maintenance: ({ name, lasted, title }) =>
      because(`Maintenance of ${name} has ended${after(lasted)}`, title),
    certificate: ({ name }) => `The certificate of ${name} was renewed`,
    heartbeat_missed: ({ name, lasted }) => `${name} sends heartbeats again${after(lasted)}`,
    run_failed: ({ name, lasted }) => `Runs of ${name} succeed again${after(lasted)}`,
    scope: ({ name, lasted }) => `${name} no longer fails in any region${after(lasted)}`,
  },
  still: ({ name, why }) => because(`${name} is still down`, why),
  unwatched: {
    paused: (name) => `${name} is no longer checked: it was paused`,
    removed: (name) => `${name} is no longer checked: it was removed`,
  },
  flaps: (name, changes, within) => `${name} is flapping: ${changes} changes within ${within}`,
  groupBegan: {
    down: (count) => `${count} services are down`,
    up: (count) => `${count} services are up`,
    slow: (count) => `${count} services are slow`,
    incident: (count) => `${count} services have incidents`,
    maintenance: (count) => `Maintenance of ${count} services`,
    certificate: (count) => `The certificates of ${count} services expire soon`,
    mixed: (count) => `${count} services have changed`,
  },
  groupEnded: (count, lasted) => `All ${count} services are well again${after(lasted)}`,
  groupStill: {
    down: (count) => `${count} services are still down`,
    up: (count) => `${count} services are up`,
    slow: (count) => `${count} services are still slow`,
    incident: (count) => `${count} services still have incidents`,
    maintenance: (count) => `Maintenance of ${count} services goes on`,
    certificate: (count) => `The certificates of ${count} services still expire soon`,
    mixed: (count) => `${count} services still have trouble`,
  },
  acknowledged: (by, what) => (by === '' ? `Acknowledged: ${what}` : `${by} has acknowledged: ${what}`),
  test: 'Test: alerts arrive here',
  testText: 'This is a test. Nothing is wrong.',
  channelFails: (channel) => `The channel "${channel}" fails`,
  channelFailsText: 'Messages to it wait and are tried again. Check its settings.',
  offline: 'The prober is offline',
  offlineText: 'Its own connection is down. It judges nothing and sends no other alert until it is back.',
  online: 'The prober is online again',
  cause: {
    address: (name) => `they all resolve to ${name}`,
    dependency: (name) => `they all report the dependency ${name}`,
    vendor: (name) => `their vendor reports an incident on ${name}`,
    region: (name) => `they all fail in ${name}`,
    certificate: (name) => `they share a certificate that is valid until ${name}`,
  },
  since: 'Since',
  at: 'At',
  beganAt: 'Began',
  endedAt: 'Ended',
  why: 'Reason',
  phaseLabel: 'Failed while',
  phase: {
    dns: 'resolving the name',
    connect: 'connecting',
    tls: 'setting up TLS',
    first_byte: 'waiting for the response',
    body: 'reading the response',
  },
  places: 'Fails from',
  everywhere: 'everywhere',
  notEverywhere: 'not everywhere',
  vendor: 'Vendor says',
  lastGood: 'Last good check',
  first: 'First',
  commonCause: 'In common',
  severity: 'Severity',
  state: 'Status',
  starts: 'Begins',
  ends: 'Ends',
  rule: 'Rule',
  flapsText: 'There will be no further message about it until it is steady.',
  dropped: 'Dropped',
  droppedText: (count, shown) =>
    `${count === 1 ? 'an earlier message' : `${shown} earlier messages`} to this channel, because too many waited`,
  more: (count) => `and ${count} more`,
  open: 'Open',
  acknowledge: 'Acknowledge',
};

function englishUp({ name, lasted, isSlow }: Told): string {
  return `${name} is up again${isSlow ? ', but slow,' : ''}${after(lasted)}`.replace(/,$/, '');
}

function after(lasted: string): string {
  return lasted === '' ? '' : ` after ${lasted}`;
}

const german: MessageWords = {
  began: {
    down: ({ name, why }) => because(`${name} ist gestört`, why),
    up: ({ name, isSlow }) => `${name} ist in Ordnung${isSlow ? ', aber langsam' : ''}`,
    slow: ({ name, why }) => because(`${name} ist langsam`, why),
    incident: ({ name, title }) => because(name, title),
    incident_update: ({ name, title, state }) => `${name}: ${title} (${state})`,
    vendor_incident: ({ name, title, state }) => `${name}: Der Anbieter meldet „${title}“ (${state})`,
    maintenance: ({ name, title, phase }) =>
      because(
        phase === 'planned'
          ? `Wartung von ${name} geplant`
          : `Wartung von ${name} hat ${phase === 'running' ? 'begonnen' : 'geendet'}`,
        title,
      ),
    certificate: ({ name, days }) =>
      `Das Zertifikat von ${name} läuft binnen ${days === 1 ? 'eines Tages' : `${days} Tagen`} ab`,
    heartbeat_missed: ({ name, why }) => because(`${name} ist verstummt`, why),
    run_failed: ({ name, why }) => because(`Ein Lauf von ${name} ist gescheitert`, why),
    scope: ({ name, scope, places }) =>
      scope === 'none'
        ? `${name} ist in keiner Region mehr gestört`
        : scope === 'global'
          ? `${name} ist jetzt überall gestört`
          : because(`${name} ist jetzt in einigen Regionen gestört`, places),
  },
  ended: {
    down: (told) => germanUp(told),
    up: (told) => germanUp(told),
    slow: ({ name, lasted }) => `${name} ist wieder schnell${nach(lasted)}`,
    incident: ({ name, title, lasted }) => `${name}: behoben${nach(lasted)}: ${title}`,
    incident_update: ({ name, title, lasted }) => `${name}: behoben${nach(lasted)}: ${title}`,
    vendor_incident: ({ name, title, lasted }) =>
      `${name}: Der Anbieter hat „${title}“ behoben${nach(lasted)}`,
    maintenance: ({ name, lasted, title }) =>
      because(`Wartung von ${name} hat geendet${nach(lasted)}`, title),
    certificate: ({ name }) => `Das Zertifikat von ${name} wurde erneuert`,
    heartbeat_missed: ({ name, lasted }) => `${name} meldet sich wieder${nach(lasted)}`,
    run_failed: ({ name, lasted }) => `Läufe von ${name} gelingen wieder${nach(lasted)}`,
    scope: ({ name, lasted }) => `${name} ist in keiner Region mehr gestört${nach(lasted)}`,
  },
  still: ({ name, why }) => because(`${name} ist weiterhin gestört`, why),
  unwatched: {
    paused: (name) => `${name} wird nicht mehr geprüft: Die Prüfung ist angehalten`,
    removed: (name) => `${name} wird nicht mehr geprüft: Der Dienst wurde entfernt`,
  },
  flaps: (name, changes, within) => `${name} flattert: ${changes} Wechsel binnen ${within}`,
  groupBegan: {
    down: (count) => `${count} Dienste sind gestört`,
    up: (count) => `${count} Dienste sind in Ordnung`,
    slow: (count) => `${count} Dienste sind langsam`,
    incident: (count) => `${count} Dienste haben Vorfälle`,
    maintenance: (count) => `Wartung von ${count} Diensten`,
    certificate: (count) => `Die Zertifikate von ${count} Diensten laufen bald ab`,
    mixed: (count) => `${count} Dienste haben sich geändert`,
  },
  groupEnded: (count, lasted) => `Alle ${count} Dienste sind wieder in Ordnung${nach(lasted)}`,
  groupStill: {
    down: (count) => `${count} Dienste sind weiterhin gestört`,
    up: (count) => `${count} Dienste sind in Ordnung`,
    slow: (count) => `${count} Dienste sind weiterhin langsam`,
    incident: (count) => `${count} Dienste haben weiterhin Vorfälle`,
    maintenance: (count) => `Die Wartung von ${count} Diensten dauert an`,
    certificate: (count) => `Die Zertifikate von ${count} Diensten laufen weiterhin bald ab`,
    mixed: (count) => `${count} Dienste haben weiterhin Probleme`,
  },
  acknowledged: (by, what) => (by === '' ? `Übernommen: ${what}` : `${by} hat übernommen: ${what}`),
  test: 'Test: Alarme kommen hier an',
  testText: 'Das ist ein Test. Es ist nichts gestört.',
  channelFails: (channel) => `Der Kanal „${channel}“ versagt`,
  channelFailsText: 'Nachrichten an ihn warten und werden erneut versucht. Prüfen Sie seine Einstellungen.',
  offline: 'Die Überwachung ist offline',
  offlineText:
    'Ihre eigene Verbindung ist unterbrochen. Bis sie zurück ist, urteilt sie über nichts und sendet keinen anderen Alarm.',
  online: 'Die Überwachung ist wieder online',
  cause: {
    address: (name) => `alle führen zu ${name}`,
    dependency: (name) => `alle melden die Abhängigkeit ${name}`,
    vendor: (name) => `ihr Anbieter meldet eine Störung auf ${name}`,
    region: (name) => `alle sind in ${name} gestört`,
    certificate: (name) => `sie haben dasselbe Zertifikat, gültig bis ${name}`,
  },
  since: 'Seit',
  at: 'Zeit',
  beganAt: 'Beginn',
  endedAt: 'Ende',
  why: 'Grund',
  phaseLabel: 'Gescheitert',
  phase: {
    dns: 'beim Auflösen des Namens',
    connect: 'beim Verbinden',
    tls: 'beim Aufbau von TLS',
    first_byte: 'beim Warten auf die Antwort',
    body: 'beim Lesen der Antwort',
  },
  places: 'Gestört aus',
  everywhere: 'überall',
  notEverywhere: 'nicht überall',
  vendor: 'Der Anbieter sagt',
  lastGood: 'Letzte gute Prüfung',
  first: 'Zuerst',
  commonCause: 'Gemeinsam',
  severity: 'Schwere',
  state: 'Stand',
  starts: 'Beginn',
  ends: 'Ende',
  rule: 'Regel',
  flapsText: 'Weitere Nachrichten darüber kommen erst, wenn er wieder stetig ist.',
  dropped: 'Verworfen',
  droppedText: (count, shown) =>
    `${count === 1 ? 'eine frühere Nachricht' : `${shown} frühere Nachrichten`} an diesen Kanal, weil zu viele warteten`,
  more: (count) => `und ${count} weitere`,
  open: 'Ansehen',
  acknowledge: 'Übernehmen',
};

function germanUp({ name, lasted, isSlow }: Told): string {
  return `${name} antwortet wieder${isSlow ? ', aber langsam,' : ''}${nach(lasted)}`.replace(/,$/, '');
}

function nach(lasted: string): string {
  return lasted === '' ? '' : ` nach ${lasted}`;
}

/** The words by language. */
export const MESSAGE_WORDS: Readonly<Record<LanguageCode, MessageWords>> = { en: english, de: german };
