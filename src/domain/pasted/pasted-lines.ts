/** Targets to watch, as somebody pastes them: an address, a command or the name of a heartbeat on each line. Pure. */

import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { isPrivateName } from '../host-name.ts';
import { percentDecoded } from '../printable-text.ts';
import type { AcceptRule, CheckKind, CheckSettings } from '../service.ts';
import {
  HIDDEN_PASSWORD,
  hidePassword,
  kindOfPort,
  SCHEMES,
  splitUrls,
  WORDS,
  withoutDecoration,
} from './pasted-words.ts';

export interface PastedTarget {
  readonly kind: CheckKind;
  /** Host name in ASCII or IP address without brackets; of a heartbeat, its name as a label. */
  readonly host: string;
  /** Null: the kind has none. */
  readonly port: number | null;
  readonly name: string;
  /** Settings of the check, with credentials in clear text. */
  readonly settings: CheckSettings;
  /** Statuses that are good; null: the rule of the kind. */
  readonly accept: readonly AcceptRule[] | null;
  /** The domain of the service if it is not the host: of a name server, the name that it is asked for. */
  readonly domain?: string;
}

/** Why a line is not understood. */
export type PastedProblem =
  | 'host'
  | 'port'
  | 'range'
  | 'scheme'
  | 'password'
  | 'unclear'
  | 'duplicate'
  | 'too_many'
  | 'too_long';

/** A line with something on it. `typed` has no passwords, so that it can be shown again. */
export type PastedLine = { readonly typed: string } & (
  | { readonly target: PastedTarget; readonly problem?: never }
  | { readonly problem: PastedProblem; readonly target?: never }
);

/** Maximum number of lines that are read; further ones are `too_many`. */
export const MAX_PASTED_LINES = 50;
const MAX_LINE_LENGTH = 1_000;
const MAX_NAME_LENGTH = 100;
/** The name that name servers are asked for (RFC 6761, 6.5). */
const ASKED_NAME = 'example.com';
/** A page that asks for a sign-in is there. */
const REACHABLE: readonly AcceptRule[] = ['2xx', '3xx', 401, 403];

/** Reads pasted text. Empty lines, comments, headings and the rules of tables are left out. */
export function readPastedLines(text: string): PastedLine[] {
  const known = new Set<string>();
  return text
    .split(/\r\n|\r|\n/)
    .map(withoutDecoration)
    .flatMap(splitList)
    .filter((line) => line !== '' && !/^(?:#|\/\/|;|<!--|[|\s:=+-]+$)/.test(line))
    .map((line, index): PastedLine => {
      const typed = hidePassword(line).slice(0, MAX_LINE_LENGTH);
      if (index >= MAX_PASTED_LINES) return { typed, problem: 'too_many' };
      if (line.length > MAX_LINE_LENGTH) return { typed, problem: 'too_long' };
      const target = readLine(line);
      if (typeof target === 'string') return { typed, problem: target };
      const { kind, host, port, name, settings } = target;
      const place = JSON.stringify([kind, host, port, kind === 'heartbeat' ? name : (settings.path ?? '')]);
      if (known.has(place)) return { typed, problem: 'duplicate' };
      known.add(place);
      return { typed, target };
    });
}

/** The addresses of a line that has several of them, the machines of one that has their names between commas, or the line. */
function splitList(line: string): string[] {
  const parts = line.split(/[\s,;]+/).filter((part) => part !== '');
  const isList =
    parts.length > 1 && parts.every((part) => isAddress(part) || /^[a-z][a-z0-9+.-]*:\/\//i.test(part));
  const names = line.split(/\s*[,;]\s*/).filter((name) => name !== '');
  const isOfNames = names.every((name) => !isAddress(name) && !WORDS.has(name) && hostOf(name) !== null);
  if (isList || (names.length > 1 && isOfNames)) return isList ? parts : names;
  const { rest, comment } = splitComment(line);
  const pieces = splitUrls(rest);
  return pieces.map((piece, n) =>
    comment === null || n < pieces.length - 1 ? piece : `${piece} # ${comment}`,
  );
}

/** A host with what else its token said. */
interface Place {
  readonly host: string;
  readonly port: number | null;
  readonly path: string;
}

function readLine(line: string): PastedTarget | PastedProblem {
  const { rest, comment } = splitComment(line);
  const { address, hint } = splitAddress(rest);
  const named = (words: string) => nameIn(comment ?? words);
  if (address !== null) return readUrl(address, WORDS.get(firstWord(hint)) ?? null, named(hint));
  const tokens = rest
    .split(/[\s|,;]+|=(?<!\?\S*)/)
    .map((token) => token.replace(/^["'`<(]+|[>"'`).:]+$/g, ''))
    .filter((token) => token !== '');
  const word = WORDS.get(firstWord(rest)) ?? null;
  if (word === 'heartbeat' && tokens.length > 1) return heartbeat(comment ?? tokens.slice(1).join(' '));
  const at = tokens.findIndex((token) => isAddress(token));
  const { port: saidPort, others } = portIn(tokens, at);
  if (at === -1) {
    const [only = '', ...more] = word === null ? others : others.slice(1);
    if (only === '') return word === null || tokens.length > 1 ? 'unclear' : heartbeatOrHost(tokens, comment);
    const called = calledHost(word, others);
    if (called !== null) return readPlace({ ...called, path: '' }, word, named(''));
    if (more.length > 0) return heartbeat(comment ?? tokens.join(' '));
    return readPlace({ host: only.replace(/^.*@/, ''), port: saidPort, path: '' }, word, named(''));
  }
  const place = placeOf(tokens[at] ?? '');
  if (typeof place === 'string') return place;
  const words = others.filter((token) => token !== tokens[at]);
  return readPlace({ ...place, port: place.port ?? saidPort }, word, named(words.join(' ')));
}

/** The single label that a command such as `ping -c 4 nas` or `telnet nas 23` calls, with the number after it; null: it calls none. */
function calledHost(word: CheckKind | null, [, ...tokens]: readonly string[]) {
  const [host, ...more] = tokens.filter((token) => !/^\d+$/.test(token));
  if (host === undefined || more.length > 0 || (word !== 'icmp' && word !== 'tcp')) return null;
  const port = tokens[tokens.indexOf(host) + 1];
  return { host, port: port === undefined ? null : Number(port) };
}

/** A word of a kind alone is a host of that name. */
function heartbeatOrHost([only = '']: readonly string[], comment: string | null) {
  return readPlace({ host: only, port: null, path: '' }, null, nameIn(comment ?? ''));
}

function splitComment(line: string): { readonly rest: string; readonly comment: string | null } {
  const [, rest = line, comment = null] = /^(.*?\S)\s+(?:#|\/\/)\s*(.*)$/.exec(line) ?? [];
  return { rest, comment };
}

/** The address with a scheme, from a Markdown link too, and the words around it. */
function splitAddress(line: string): { readonly address: string | null; readonly hint: string } {
  const link = /\[([^\]]+)\]\(\s*<?([a-z][a-z0-9+.-]*:\/\/[^)\s>]+)>?\s*\)/i.exec(line);
  if (link !== null) return { address: link[2] ?? null, hint: link[1] ?? '' };
  const url = /[a-z][a-z0-9+.-]*:\/\/[^\s|<>"'`]+/i.exec(line);
  if (url === null) return { address: null, hint: line };
  return { address: url[0].replace(/[,;.)]+$/, ''), hint: line.replace(url[0], ' ') };
}

function readUrl(address: string, word: CheckKind | null, name: string): PastedTarget | PastedProblem {
  const [, scheme = '', rest = ''] = /^([a-z0-9+.-]+):\/\/(.*)$/i.exec(address) ?? [];
  const known = SCHEMES.get(scheme.toLowerCase());
  if (known === undefined) return 'scheme';
  // Schemes that the URL standard does not know have opaque hosts, which it does not validate.
  const url = URL.parse(`http://${rest}`);
  const port = /^(?:[^/?#]*@)?(?:\[[^\]]*\]|[^/?#:]*):(\d+)(?:[/?#]|$)/.exec(rest)?.[1] ?? null;
  if (url === null) return /:\d{5,}/.test(rest) ? 'port' : 'host';
  if (url.password === HIDDEN_PASSWORD) return 'password';
  const path = url.pathname + url.search;
  const place = { host: hostIn(rest), port: port === null ? null : Number(port), path };
  const kind = word !== null && word !== 'http' && word !== 'heartbeat' ? word : known.kind;
  const credentials = credentialsIn(kind, url);
  const settings = { ...(kind === known.kind ? known.settings : {}), ...credentials };
  return targetOf({ ...place, port: place.port ?? known.port }, kind, settings, name);
}

/** The host as it is written, so that an address that is not one of IPv4 in the usual notation is refused. */
function hostIn(rest: string): string {
  const [authority = ''] = rest.split(/[/?#]/);
  return authority
    .replace(/^.*@/, '')
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '');
}

function credentialsIn(kind: CheckKind, { username, password, pathname }: URL): CheckSettings {
  const read = (text: string) => percentDecoded(text, text);
  const takesSignIn = ['http', 'smtp', 'postgres', 'mysql', 'redis', 'mqtt'].includes(kind);
  const isDatabase = kind === 'postgres' || kind === 'mysql';
  const database = isDatabase && username !== '' ? read(pathname.slice(1)) : '';
  return {
    ...(takesSignIn && username !== '' ? { username: read(username) } : {}),
    ...(takesSignIn && password !== '' ? { password: read(password) } : {}),
    ...(database === '' ? {} : { database }),
  };
}

/** Returns true if a word by itself names a place: an IP address, a name with a dot, or a host with a port or a path. */
function isAddress(token: string): boolean {
  const bare = token.replace(/^.*@/, '');
  if (isIP(bare) !== 0 || /^\[[0-9a-f:.%]+\](?::\d+)?(?:\/.*)?$/i.test(bare)) return true;
  const [, host = '', port, path] = /^([^:/\s]+)(?::(\d+))?(\/.*)?$/.exec(bare) ?? [];
  const hasDot =
    /^[^.].*\.(?:[a-z][a-z0-9-]+|\p{L}{2,}|\d{1,3})$/iu.test(host) && !/^\d+(?:\.\d+){1,2}$/.test(host);
  if (host === '' || /^\d+$/.test(host)) return false;
  return (
    hasDot ||
    (port !== undefined && hostOf(host) !== null) ||
    (path !== undefined && hostOf(host) !== null && hasDot)
  );
}

function placeOf(token: string): Place | PastedProblem {
  const bare = token.replace(/^.*@/, '');
  if (isIP(bare) === 6) return { host: bare, port: null, path: '' };
  const [, v6, host = v6 ?? '', port = null, path = ''] =
    /^(?:\[([^\]]+)\]|([^:/]+))(?::(\d+))?(\/.*)?$/.exec(bare) ?? [];
  if (isIP(host) !== 0 && /^\/\d{1,3}$/.test(path)) return 'range';
  return { host, port: port === null ? null : Number(port), path: path.replace(/#.*$/, '') };
}

/** A number after the address or after `-p` is its port, and what begins with a dash belongs to a command. */
function portIn(tokens: readonly string[], at: number) {
  const isPort = (token: string | undefined) => token !== undefined && /^\d{1,5}$/.test(token);
  const index = tokens.findIndex(
    (token, n) =>
      isPort(token) && (n === at + 1 || /^(?:-p|--port|port)$/i.test(tokens[n - 1] ?? '')) && n > 0,
  );
  const hasPort = index !== -1 && (at !== -1 || /^-/.test(tokens[index - 1] ?? ''));
  const others = tokens.filter(
    (token, n) => !token.startsWith('-') && !(hasPort && (n === index || /^port$/i.test(token))),
  );
  return { port: hasPort ? Number(tokens[index]) : null, others };
}

function readPlace(place: Place, word: CheckKind | null, name: string): PastedTarget | PastedProblem {
  const { port, path } = place;
  const kind = word === 'heartbeat' ? null : word;
  if (kind !== null && kind !== 'http') return targetOf(place, kind, {}, name);
  if (port !== null) {
    const known = kindOfPort(port);
    if (kind !== 'http' && path === '') return targetOf(place, known.kind, known.settings, name);
    return targetOf(
      place,
      'http',
      known.settings.plain === false ? {} : { plain: port !== 443 && port !== 8443 },
      name,
    );
  }
  // A name of the internet is a website, and a machine at home answers to pings.
  if (path !== '' || kind === 'http') return targetOf(place, 'http', { plain: isHomely(place.host) }, name);
  return targetOf(place, isHomely(place.host) ? 'icmp' : 'http', {}, name);
}

function isHomely(host: string): boolean {
  return isIP(host) !== 0 || isPrivateName(host);
}

function targetOf(
  place: Place,
  kind: CheckKind,
  given: CheckSettings,
  name: string,
): PastedTarget | PastedProblem {
  if (/^\d+\.\d+\.\d+\.(?:\d+-[\d.]+|\*)$/.test(place.host)) return 'range';
  const host = hostOf(place.host);
  if (host === null) return 'host';
  const port = place.port;
  if (port !== null && (port < 1 || port > 65_535)) return 'port';
  const shown = shownHost(host, port !== null);
  if (kind === 'icmp' || kind === 'domain')
    return { kind, host, port: null, settings: {}, accept: null, name: name || shown };
  if (kind === 'http' || kind === 'websocket') return webTarget({ ...place, host }, kind, given, name);
  if (kind === 'dns' && (port !== null || isIP(host) !== 0)) {
    const settings = { server: host, ...(port === null || port === 53 ? {} : { port }) };
    const domain = ASKED_NAME;
    return { kind, host, port: port ?? 53, settings, accept: null, name: name || `DNS ${host}`, domain };
  }
  if (kind === 'dns')
    return { kind, host, port: null, settings: {}, accept: null, name: name || `DNS ${host}` };
  const usual = USUAL_PORTS[kind];
  const used = port ?? usual ?? null;
  if (used === null) return 'port';
  const settings = { ...given, ...(used === usual ? {} : { port: used }) };
  return {
    kind,
    host,
    port: used,
    settings,
    accept: null,
    name: name || (port === null ? shown : `${shown}:${port}`),
  };
}

/** The ports that a check has without the setting. */
const USUAL_PORTS: Readonly<Partial<Record<CheckKind, number>>> = {
  tls: 443,
  grpc: 443,
  smtp: 25,
  ssh: 22,
  postgres: 5432,
  mysql: 3306,
  redis: 6379,
  mqtt: 1883,
  mongodb: 27_017,
};

function webTarget(
  { host, port: given, path }: Place,
  kind: 'http' | 'websocket',
  settings: CheckSettings,
  name: string,
): PastedTarget {
  const isPlain = settings.plain === true;
  const { plain: _, ...others } = settings;
  const usual = isPlain ? 80 : 443;
  const port = given ?? usual;
  const isRoot = path === '' || path === '/';
  const isOwnName = !isHomely(host);
  const shown = `${shownHost(host, true)}${port === usual ? '' : `:${port}`}`;
  const common = {
    host,
    port,
    name: name || shown + (isRoot ? '' : path).slice(0, MAX_NAME_LENGTH - shown.length),
  };
  // The check of a website in general needs no settings.
  if (kind === 'http' && isRoot && isOwnName && !isPlain && port === 443 && Object.keys(others).length === 0)
    return { ...common, kind: 'root', settings: {}, accept: null };
  return {
    ...common,
    kind,
    settings: {
      ...(isRoot ? {} : { path }),
      ...(isPlain ? { plain: true } : {}),
      ...(port === usual ? {} : { port }),
      ...others,
    },
    accept: kind === 'http' && isRoot ? REACHABLE : null,
  };
}

/** A host as people write it, in a name. */
function shownHost(host: string, isBracketed: boolean): string {
  if (isIP(host) === 0) return domainToUnicode(host);
  return isIP(host) === 6 && isBracketed ? `[${host}]` : host;
}

/** A host name in ASCII, or an address; null: it is neither. */
function hostOf(text: string): string | null {
  const bare = text.replace(/\.$/, '').toLowerCase();
  if (/[/@?#\\\s[\]]/.test(bare) || !/[\p{L}\p{N}]/u.test(bare)) return null;
  if (isIP(bare) !== 0) return bare.includes('%') ? null : bare;
  const ascii = domainToASCII(bare);
  const labels = ascii.split('.');
  const isSound =
    ascii.length <= 253 && labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  // By the URL standard a host whose last label is a number is an address, in any notation.
  return isSound && !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '') ? ascii : null;
}

function heartbeat(name: string): PastedTarget | PastedProblem {
  if (!/\p{L}{2}/u.test(name)) return 'unclear';
  const label = name
    .normalize('NFKD')
    .replace(/ß/g, 'ss')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '');
  const host = label === '' || /^\d+$/.test(label) ? 'heartbeat' : label;
  return { kind: 'heartbeat', host, port: null, name, settings: {}, accept: null };
}

/** The name in the words around an address: without commands, kinds, and what joins them. Empty: there is none. */
function nameIn(words: string): string {
  const tokens = words.split(/[\s|]+/).filter((token) => token !== '' && !token.startsWith('-'));
  const isKind = (token: string | undefined) => token !== undefined && WORDS.has(firstWord(token));
  const from = tokens.findIndex((token) => !/^(?:curl|wget|sudo)$/i.test(token) && !isJoint(token));
  const kept = from === -1 ? [] : tokens.slice(from);
  return (isKind(kept[0]) ? kept.slice(1) : kept)
    .join(' ')
    .replace(/^["'`()<>*_[\]\s,;:=–—-]+|["'`()<>*_[\]\s,;:=–—-]+$/g, '')
    .slice(0, MAX_NAME_LENGTH);
}

function isJoint(token: string): boolean {
  return /^(?:[-–—:=,;>()[\]*_"'`]+|and|und|on|auf)$/i.test(token);
}

/** The first word of a text, in small letters without punctuation, as `WORDS` has it. */
function firstWord(text: string): string {
  const [, word = ''] = /^[\s"'`*_[(]*([a-z][a-z0-9-]*)(?=[\s:)(]|$)/i.exec(text) ?? [];
  return word.toLowerCase();
}
