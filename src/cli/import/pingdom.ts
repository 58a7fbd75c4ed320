/** Checks of Pingdom, as its API (2.1, 3.1) lists them, or one by one with their details. */
import { SECOND_MS } from '../../domain/durations.ts';
import type { CheckSettings } from '../../domain/service.ts';
import { type Contact, contactItems, minutesMs, windowItem } from './contacts.ts';
import { type ListedRequest, listRequest, PLAIN_REQUEST } from './http-request.ts';
import { Collection, type DocumentReader } from './listed-content.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  isEmpty,
  type LostField,
  listKind,
  listOf,
  lostIf,
  namesIn,
  quote,
  type Row,
  withNote,
  withTimes,
} from './listed-service.ts';

/** Reads the checks of an answer, or of several in a list. */
export const pingdom: DocumentReader = {
  expected: '"checks" (Pingdom)',
  recognises: (root, document) => checksOf(root, document).length > 0,
  read({ root, document, now }) {
    const answers = answersOf(root, document);
    const contacts = answers.flatMap((answer) => listOf(answer.contacts) ?? []).map(asRow);
    const known = new Set(contacts.map(({ id }) => String(id)));
    const found = new Collection();
    found.addAll(checksOf(root, document).flatMap(splitCheck), (row) => {
      const read = readCheck(row);
      if ('problem' in read || !contactsOf(row).every((id) => known.has(id))) return read;
      return { ...read, lost: read.lost.filter(({ field }) => !OF_CONTACTS.has(field)) };
    });
    const windows = answers.flatMap(({ maintenance }) => (Array.isArray(maintenance) ? maintenance : []));
    return found.reading('pingdom', readBeside(contacts, windows.map(asRow), found, now));
  },
};

/** Fields of checks that become rules if the file has their contacts. */
const OF_CONTACTS = new Set(['userids', 'notifyagainevery', 'maintenanceids']);

function contactsOf(row: Row): string[] {
  return (listOf(row.userids) ?? []).map(String);
}

/** Contacts as channels with rules, and maintenance. */
function readBeside(given: readonly Row[], windows: readonly Row[], found: Collection, now: number) {
  const { entries: checks, skip, lose } = found;
  const contacts = given.flatMap((row): Contact[] => {
    const name = asText(row.name) ?? `contact ${row.id}`;
    const { email, ...others } = asRow(row.notification_targets);
    const addresses = (listOf(email) ?? []).flatMap((one) => asText(asRow(one).address) ?? []);
    for (const [field, list] of Object.entries(others))
      if (!isEmpty(list)) lose(name, field, 'a contact becomes addresses for letters alone');
    const isPaused = row.paused === true;
    if (isPaused || addresses.length === 0)
      skip(name, isPaused ? 'it is paused' : 'it has no address for letters');
    return isPaused || addresses.length === 0 ? [] : [{ id: String(row.id), name, addresses }];
  });
  const watched = checks.map(({ row, service }) => ({
    service,
    contacts: contactsOf(row),
    events: row.notifywhenbackup === false ? ['down'] : ['down', 'up'],
    afterMs: 0,
    repeatMs: minutesMs(Number(row.notifyagainevery) * Number(row.resolution)),
  }));
  const maintenances = windows.flatMap((row) => {
    const title = asText(row.description) ?? 'Maintenance';
    const ids = new Set((listOf(asRow(row.checks).uptime) ?? []).map(String));
    const services = checks
      .filter(({ row: check }) => ids.has(String(check.id)))
      .map(({ service }) => service);
    const number = Math.max(Number(row.repeatevery) || 1, 1);
    const days = { day: 1, week: 7 }[asText(row.recurrencetype) ?? ''];
    const isMonthly = row.recurrencetype === 'month';
    if (isMonthly && number > 1) {
      skip(title, 'it does not recur every month, which has no equal here');
      return [];
    }
    const item = windowItem(
      {
        ...{
          title,
          services,
          timeZone: 'UTC',
          from: Number(row.from) * SECOND_MS,
          to: Number(row.to) * SECOND_MS,
        },
        every: days === undefined ? (isMonthly ? 'month' : null) : { days: days * number },
        until: isEmpty(row.effectiveto) ? null : Number(row.effectiveto) * SECOND_MS,
      },
      now,
    );
    if (!('problem' in item)) return [item];
    skip(title, item.problem);
    return [];
  });
  return [...contactItems(contacts, watched), ...maintenances];
}

function answersOf(root: Row, document: unknown): readonly Row[] {
  return Array.isArray(document) ? document.map(asRow) : [root];
}

function checksOf(root: Row, document: unknown): readonly Row[] {
  const rows = answersOf(root, document)
    .flatMap(({ checks, check }) => [...(Array.isArray(checks) ? checks : []), check])
    .map(asRow)
    .filter((row) => asText(row.hostname) !== null && !isEmpty(row.type) && 'resolution' in row);
  // Where the file has the details of a check, they count.
  const detailed = new Set(rows.filter(isDetailed).map(({ id }) => String(id)));
  return rows.filter((row) => isDetailed(row) || !detailed.has(String(row.id)));
}

const isDetailed = (row: Row) => typeof row.type === 'object';

/** Fields that are imported, or that tell of results. */
const KNOWN = namesIn(`
  id name hostname type resolution status paused tags created port part lasterrortime lastresponsetime
  lasttesttime lastdownstart lastdownend verify_certificate ssl_down_days_before notifywhenbackup
  responsetime_threshold
`);

const CHANNELS = 'the file has no addresses: add a channel and a rule for them (docs/alerts.md)';
const REASONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['userids', 'contactids', 'integrationids', 'teams', 'teamids'].map((field) => [field, CHANNELS]),
  ),
  sendnotificationwhendown: 'set "after" of a rule (docs/alerts.md)',
  notifyagainevery: 'set "repeat" of a rule (docs/alerts.md)',
  custom_message: 'messages have texts of their own',
  ipv6: 'checks use both families of addresses',
  probe_filters: 'your own nodes make the checks (docs/cluster.md)',
  maintenanceids: 'announce maintenance on the dashboard (docs/maintenance.md)',
};

/** The time that Pingdom waits for any answer, and the usual limit of a good one, milliseconds. */
const TIMEOUT_MS = 30_000;

/** A check that also fails before its certificate ends is a check of the certificate besides. */
function splitCheck(row: Row): readonly Row[] {
  const { http } = asRow(row.type);
  if (isEmpty(row.ssl_down_days_before) || asRow(http).encryption !== true) return [row];
  const name = `${asText(row.name) ?? asText(row.hostname)} (certificate)`;
  return [row, { ...row, name, part: 'certificate' }];
}

function readCheck(row: Row): EntryReading {
  const kind = asText(row.type) ?? Object.keys(asRow(row.type))[0] ?? '';
  const given = asRow(row.type)[kind];
  const tags = (listOf(row.tags) ?? []).flatMap((tag) => asText(tag) ?? asText(asRow(tag).name) ?? []);
  const timed = withTimes(readKind(row, kind, given === undefined ? null : asRow(given)), {
    interval: `${Number(row.resolution)}m`,
    timeout: `${TIMEOUT_MS}ms`,
  });
  return withNote(timed, [tags.length === 0 ? '' : `Tags: ${tags.join(', ')}`]);
}

/** The check of a kind. `details`: null: they are not in the file. */
function readKind(row: Row, kind: string, details: Row | null): EntryReading {
  const lost = findLost(row, (field) => KNOWN.has(field), REASONS);
  const name = asText(row.name);
  const host = asText(row.hostname);
  const more = { paused: row.status === 'paused' || row.paused === true };
  const named = { ...more, ...(name === null ? {} : { name }), domain: host };
  const list = (checked: 'tcp' | 'tls' | 'smtp' | 'dns' | 'icmp', settings: CheckSettings, known: string[]) =>
    listKind(checked, settings, named, [
      ...lost,
      ...findLost(details ?? {}, (field) => known.includes(field), {}),
      ...lostIf(isLimited(row), 'responsetime_threshold', 'only checks of web pages have a limit'),
    ]);
  if (kind === 'ping') return list('icmp', {}, []);
  if (kind === 'http')
    return details === null ? listUnknown(row, more, lost) : readHttp(row, details, more, lost);
  if (!['tcp', 'smtp', 'pop3', 'imap', 'dns'].includes(kind))
    return { problem: `checks of type ${quote(kind)} have no equal here` };
  if (details === null)
    return {
      problem: `the list does not tell what a check of type ${quote(kind)} checks: save /checks/ID, which does`,
    };
  const port = isEmpty(details.port) ? {} : { port: Number(details.port) };
  if (kind === 'dns') {
    const [server, expected] = [asText(details.nameserver), asText(details.expectedip)];
    const settings = {
      record: expected?.includes(':') === true ? 'AAAA' : 'A',
      ...(server === null ? {} : { server }),
      ...(expected === null ? {} : { values: [expected] }),
    };
    return list('dns', settings, ['nameserver', 'expectedip']);
  }
  if (kind === 'smtp') {
    const [username, password] = [asText(details.username), asText(details.password)];
    const settings = {
      ...port,
      security: details.encryption === true ? 'tls' : 'plain',
      ...(username === null || password === null ? {} : { username, password }),
    };
    return list('smtp', settings, ['port', 'encryption', 'username', 'password']);
  }
  const text = asText(details.stringtoexpect) ?? { pop3: '+OK', imap: '* ' }[kind] ?? null;
  if (details.encryption === true) return list('tls', port, ['port', 'encryption']);
  const isAsked = asText(details.stringtosend) !== null;
  const banner = text === null || isAsked ? {} : { banner: text };
  return list('tcp', { ...port, ...banner }, ['port', 'encryption', ...(isAsked ? [] : ['stringtoexpect'])]);
}

/** A check of a web page of which only the host is known. It is paused, since a guess could be down for ever. */
function listUnknown(row: Row, more: { readonly paused: boolean }, lost: readonly LostField[]): EntryReading {
  const url = `https://${asText(row.hostname)}/`;
  return listRequest({ ...PLAIN_REQUEST, url }, asText(row.name), { ...more, paused: true }, [
    ...lost,
    ...lostIf(
      isLimited(row),
      'responsetime_threshold',
      'set slowOver, or an assertion such as "time below 2300"',
    ),
    {
      field: 'type',
      reason:
        'the list tells neither scheme, port nor path, so it is paused at https://HOST/: set its URL, or save /checks/ID, which tells them',
    },
  ]);
}

function readHttp(
  row: Row,
  details: Row,
  more: { readonly paused: boolean },
  lost: readonly LostField[],
): EntryReading {
  const host = asText(row.hostname) ?? '';
  const isSecure = details.encryption === true;
  const port = isEmpty(details.port) ? (isSecure ? 443 : 80) : Number(details.port);
  if (row.part === 'certificate')
    return listKind(
      'tls',
      { port, minDays: Number(row.ssl_down_days_before) },
      { ...more, name: asText(row.name) ?? host, domain: host },
      [],
    );
  const path = (asText(details.url) ?? '/').replace(/^(?!\/)/, '/');
  const body = asText(details.postdata);
  const headers = headersOf(details.requestheaders);
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type');
  const [contains, lacks] = [asText(details.shouldcontain), asText(details.shouldnotcontain)];
  const request: ListedRequest = {
    ...PLAIN_REQUEST,
    url: `${isSecure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}${path}`,
    method: body === null ? 'GET' : 'POST',
    headers:
      body === null || hasType
        ? headers
        : [...headers, ['Content-Type', 'application/x-www-form-urlencoded'] as const],
    body,
    username: asText(details.username),
    password: typeof details.password === 'string' ? details.password : null,
    expectations: [
      ...(contains === null ? [] : [{ field: 'shouldcontain', line: `body contains ${contains}` }]),
      ...(lacks === null ? [] : [{ field: 'shouldnotcontain', line: `body lacks ${lacks}` }]),
      ...(isLimited(row)
        ? [{ field: 'responsetime_threshold', line: `time below ${Number(row.responsetime_threshold)}` }]
        : []),
    ],
    ignoresCertificate: row.verify_certificate === false,
    followRedirects: body === null ? null : true,
  };
  return listRequest(request, asText(row.name), { ...more, accept: ['2xx', '3xx'] }, [
    ...lost,
    ...findLost(details, (field) => OF_HTTP.has(field), {}),
  ]);
}

const OF_HTTP = namesIn(`
  url encryption port username password postdata requestheaders shouldcontain shouldnotcontain
  verify_certificate ssl_down_days_before
`);

/** Headers by name or as lines, without the one by which Pingdom introduces itself. */
function headersOf(value: unknown): (readonly [name: string, value: string])[] {
  const pairs = Array.isArray(value)
    ? value.map((line) => /^([^:]*):\s*(.*)$/s.exec(String(line)) ?? [])
    : Object.entries(asRow(value)).map(([name, text]) => ['', name, String(text ?? '')]);
  return pairs.flatMap(([, name = '', text = '']) =>
    name === '' || (/^user-agent$/i.test(name) && /^Pingdom\.com_bot/.test(text))
      ? []
      : [[name, text] as const],
  );
}

/** Returns true if a slow answer is a failure, too. */
function isLimited(row: Row): boolean {
  const limit = Number(row.responsetime_threshold);
  return limit > 0 && limit < TIMEOUT_MS;
}
