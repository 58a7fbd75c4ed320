/** The words of messages in each language. A sentence is one entry, since languages differ in word order. */
import type { CommonCause, MessageState } from '../../domain/alert/message.ts';
import type { AlertEventName } from '../../domain/alert/rule.ts';
import type { Phase } from '../../domain/failure.ts';
import type { LanguageCode } from '../../language/shared-texts.ts';

/** The parts of a sentence about one service. */
export interface Told {
  readonly name: string;
  /** Why, without a full stop; empty: not known. */
  readonly why: string;
  /** Of an incident or a maintenance; empty: there is none. */
  readonly title: string;
  /** Words for the status of the incident; empty: there is none. */
  readonly state: string;
  /** The duration as text; empty: not known. */
  readonly lasted: string;
  /** Of a certificate: days until it ends. */
  readonly days: number;
  /** Regions in which it fails, joined; empty: not known. */
  readonly places: string;
  /** The scope in which it fails now: everywhere, in some regions, nowhere. */
  readonly scope: 'global' | 'partial' | 'none';
  /** Of a maintenance. */
  readonly phase: 'planned' | 'running' | 'ended';
  /** True if it answers again, but slowly. */
  readonly isSlow: boolean;
}

type Sentence = (told: Told) => string;
type Sentences = Readonly<Record<AlertEventName, Sentence>>;
/** A clause about services in one state. `n`: their number; `subject`: them in words, such as "3 services" or "3". */
type Clause = (n: number, subject: string, lasted: string) => string;

export interface MessageWords {
  /** Sentences about a beginning, by event. */
  readonly began: Sentences;
  /** Sentences about an end, by the event that began it. */
  readonly ended: Sentences;
  /** A sentence about what still goes on. */
  readonly still: Sentence;
  /** It came back, and has failed again since. */
  readonly relapsed: Sentence;
  /** Nothing more will be told of the service, although it is not over. */
  readonly unwatched: Readonly<Record<'paused' | 'removed', (name: string) => string>>;
  readonly flaps: (name: string, changes: number, within: string) => string;
  /** Services in words; only the first of several clauses names them. */
  readonly services: (n: number, shown: string) => string;
  /** The states of services. `lasted`: the longest duration of what is over; empty: it is not over. */
  readonly states: Readonly<Record<MessageState, Clause>>;
  /** The states in a reminder; absent states are as in `states`. */
  readonly stillStates: Readonly<Partial<Record<MessageState, Clause>>>;
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
  /** The service without which it is not reachable. */
  readonly because: string;
  readonly unreached: (name: string) => string;
  /** The services that are not reachable without it. */
  readonly behind: string;
  readonly behindCount: (count: number) => string;
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

const are = (n: number) => (n === 1 ? 'is' : 'are');
const sind = (n: number) => (n === 1 ? 'ist' : 'sind');

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
  relapsed: ({ name, lasted }) => `${name} came back${after(lasted)} and is down again`,
  unwatched: {
    paused: (name) => `${name} is no longer checked: it was paused`,
    removed: (name) => `${name} is no longer checked: it was removed`,
  },
  flaps: (name, changes, within) => `${name} is flapping: ${changes} changes within ${within}`,
  services: (n, shown) => `${shown} ${n === 1 ? 'service' : 'services'}`,
  states: {
    down: (n, subject) => `${subject} ${are(n)} down`,
    flapping: (n, subject) => `${subject} ${are(n)} flapping`,
    slow: (n, subject) => `${subject} ${are(n)} slow`,
    partial: (n, subject) => `${subject} ${n === 1 ? 'fails' : 'fail'} in some regions`,
    incident: (n, subject) => `${subject} ${n === 1 ? 'has an incident' : 'have incidents'}`,
    up: (n, subject, lasted) => `${subject} ${are(n)} up${lasted === '' ? '' : ` again${after(lasted)}`}`,
    fast: (n, subject, lasted) => `${subject} ${are(n)} fast again${after(lasted)}`,
    resolved: (n, subject) => `${n === 1 ? 'the incident' : 'incidents'} of ${subject} ${are(n)} resolved`,
    maintenance: (_, subject) => `maintenance of ${subject} has begun`,
    ended: (_, subject, lasted) => `maintenance of ${subject} has ended${after(lasted)}`,
    certificate: (n, subject) =>
      n === 1 ? `the certificate of ${subject} expires soon` : `the certificates of ${subject} expire soon`,
    unwatched: (n, subject) => `${subject} ${are(n)} no longer checked`,
  },
  stillStates: {
    down: (n, subject) => `${subject} ${are(n)} still down`,
    slow: (n, subject) => `${subject} ${are(n)} still slow`,
    partial: (n, subject) => `${subject} still ${n === 1 ? 'fails' : 'fail'} in some regions`,
    incident: (n, subject) => `${subject} still ${n === 1 ? 'has an incident' : 'have incidents'}`,
    maintenance: (_, subject) => `maintenance of ${subject} is still in progress`,
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
  because: 'Not reachable, because of',
  unreached: (name) => `not reachable, because of ${name}`,
  behind: 'Behind it',
  behindCount: (count) =>
    count === 1 ? '1 service, without a separate alert' : `${count} services, without separate alerts`,
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
  relapsed: ({ name, lasted }) => `${name} antwortete wieder${nach(lasted)} und ist erneut gestört`,
  unwatched: {
    paused: (name) => `${name} wird nicht mehr geprüft: Die Prüfung ist angehalten`,
    removed: (name) => `${name} wird nicht mehr geprüft: Der Dienst wurde entfernt`,
  },
  flaps: (name, changes, within) => `${name} flattert: ${changes} Wechsel binnen ${within}`,
  services: (n, shown) => `${shown} ${n === 1 ? 'Dienst' : 'Dienste'}`,
  states: {
    down: (n, subject) => `${subject} ${sind(n)} gestört`,
    flapping: (n, subject) => `${subject} ${n === 1 ? 'flattert' : 'flattern'}`,
    slow: (n, subject) => `${subject} ${sind(n)} langsam`,
    partial: (n, subject) => `${subject} ${sind(n)} in einigen Regionen gestört`,
    incident: (n, subject) => `${subject} ${n === 1 ? 'hat einen Vorfall' : 'haben Vorfälle'}`,
    up: (n, subject, lasted) =>
      lasted === ''
        ? `${subject} ${sind(n)} in Ordnung`
        : `${subject} ${n === 1 ? 'antwortet' : 'antworten'} wieder${nach(lasted)}`,
    fast: (n, subject, lasted) => `${subject} ${sind(n)} wieder schnell${nach(lasted)}`,
    resolved: (n, subject) => `${n === 1 ? 'Vorfall' : 'Vorfälle'} behoben: ${subject}`,
    maintenance: (_, subject) => `Wartung hat begonnen: ${subject}`,
    ended: (_, subject, lasted) => `Wartung hat geendet${nach(lasted)}: ${subject}`,
    certificate: (n, subject) => `${n === 1 ? 'Zertifikat läuft' : 'Zertifikate laufen'} bald ab: ${subject}`,
    unwatched: (n, subject) => `${subject} ${n === 1 ? 'wird' : 'werden'} nicht mehr geprüft`,
  },
  stillStates: {
    down: (n, subject) => `${subject} ${sind(n)} weiterhin gestört`,
    slow: (n, subject) => `${subject} ${sind(n)} weiterhin langsam`,
    partial: (n, subject) => `${subject} ${sind(n)} weiterhin in einigen Regionen gestört`,
    incident: (n, subject) =>
      `${subject} ${n === 1 ? 'hat weiterhin einen Vorfall' : 'haben weiterhin Vorfälle'}`,
    maintenance: (_, subject) => `Wartung dauert an: ${subject}`,
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
  because: 'Nicht erreichbar wegen',
  unreached: (name) => `nicht erreichbar wegen ${name}`,
  behind: 'Dahinter',
  behindCount: (count) =>
    count === 1 ? '1 Dienst ohne eigene Meldung' : `${count} Dienste ohne eigene Meldungen`,
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

export const MESSAGE_WORDS: Readonly<Record<LanguageCode, MessageWords>> = { en: english, de: german };
