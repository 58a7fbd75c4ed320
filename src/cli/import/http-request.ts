/** Requests in import files of others: what of them becomes an `http` check, or a plain check of an address. */
import { describeSettingProblem } from '../../domain/input-problem.ts';
import { type AcceptRule, type CheckSettings, STATUS_CLASSES } from '../../domain/service.ts';
import { readAssertion } from '../../kinds/assertions.ts';
import { namesCredential } from '../../kinds/setting-formats.ts';
import { validateSettings } from '../../kinds/settings.ts';
import {
  type EntryReading,
  groupCodes,
  type ListedService,
  type LostField,
  listAddress,
  listService,
  quote,
  readAddress,
} from './listed-service.ts';

/** A request with what is expected of its response. */
export interface ListedRequest {
  readonly url: string | null;
  /** Upper case; null: the default of the file's program, GET. */
  readonly method: string | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | null;
  readonly username: string | null;
  readonly password: string | null;
  /** Settings of other ways to sign in, with the fields of the file that they come from. */
  readonly signIn: readonly (readonly [field: string, settings: CheckSettings])[];
  readonly expectations: readonly Expectation[];
  /** Any certificate is accepted. */
  readonly ignoresCertificate: boolean;
  /** Null: as checks do by default. */
  readonly followRedirects: boolean | null;
  /** Good statuses of an `http` check if the file names none. */
  readonly anyStatus: readonly AcceptRule[] | null;
}

/** An expectation as a line of the setting `assertions`, and the field of the file that it comes from. */
export interface Expectation {
  readonly field: string;
  readonly line: string;
}

/** Request without anything of its own. */
export const PLAIN_REQUEST: ListedRequest = {
  url: null,
  method: null,
  headers: [],
  body: null,
  username: null,
  password: null,
  signIn: [],
  expectations: [],
  ignoresCertificate: false,
  followRedirects: null,
  anyStatus: null,
};

const MAX_HEADERS = 20;
const MAX_ASSERTIONS = 10;

/** The service of a request. What its settings cannot express is lost; it is then still checked by what they can. */
export function listRequest(
  request: ListedRequest,
  name: string | null,
  more: Partial<Omit<ListedService, 'domain' | 'name' | 'url'>>,
  lost: readonly LostField[] = [],
): EntryReading {
  const reading = readAddress(request.url);
  if ('problem' in reading) return reading;
  const { address, username, password } = reading;
  const { method, followRedirects } = request;
  const redirects = followRedirects === null ? {} : { followRedirects };
  const path = address.pathname + address.search;
  const user = request.username ?? username;
  const ignoresCertificate = request.ignoresCertificate && address.protocol === 'https:';
  const isPlain =
    (method === null || method === 'GET' || method === 'HEAD') &&
    [request.headers, request.expectations, request.signIn].every((list) => list.length === 0) &&
    request.body === null &&
    !ignoresCertificate &&
    user === null;
  if (isPlain)
    return listAddress(
      request.url,
      name,
      { ...more, method, ...(followRedirects === null ? {} : { settings: redirects }) },
      lost,
    );

  const collected = collectSettings([
    ['url', path === '/' ? {} : { path }],
    ['method', method === null || method === 'GET' ? {} : { method }],
    ['basic authentication', user === null ? {} : { username: user }],
    ...(user === null ? [] : [['basic authentication', passwordOf(request.password ?? password)] as const]),
    ...bodyOf(request),
    ...request.signIn,
  ]);
  const headers = sortHeaders(request.headers);
  const assertions = request.expectations.filter(({ line }) => readAssertion(line) !== null);
  const shown = assertions.slice(0, MAX_ASSERTIONS).map(({ line }) => line);
  const beyond = assertions.slice(MAX_ASSERTIONS);
  const unreadable = request.expectations.filter(({ line }) => readAssertion(line) === null);
  const settings: CheckSettings = {
    ...collected.settings,
    ...(address.protocol === 'http:' ? { plain: true } : {}),
    ...(address.port === '' ? {} : { port: Number(address.port) }),
    ...(ignoresCertificate ? { certificate: 'ignore' } : {}),
    ...redirects,
    ...headers.settings,
    ...(shown.length === 0 ? {} : { assertions: shown }),
  };
  const validated = validateSettings('http', settings);
  if (!validated.ok)
    return {
      problem: validated.wrong
        .map(({ setting, problem }) => `the setting ${setting} ${describeSettingProblem(problem)}`)
        .join(', '),
    };
  return listService(
    address.hostname,
    name,
    {
      ...more,
      kind: 'http',
      settings: validated.settings ?? null,
      secrets: validated.secrets ?? null,
      accept: more.accept ?? request.anyStatus,
    },
    [
      ...lost,
      ...collected.lost,
      ...headers.lost,
      ...unreadable.map(({ field, line }) => ({
        field,
        reason: `${quote(line)} is no expectation that a check can have`,
      })),
      ...beyond.map(({ field }) => ({ field, reason: `a check has at most ${MAX_ASSERTIONS} expectations` })),
    ],
  );
}

function passwordOf(password: string | null): CheckSettings {
  return password === null || password === '' ? {} : { password };
}

function bodyOf({ method, body }: ListedRequest): (readonly [field: string, settings: CheckSettings])[] {
  return body === null ? [] : [['body', { body, ...(method === null ? {} : { method }) }]];
}

/** Settings one after the other; those that are not valid are lost, with the field that they come from. */
function collectSettings(parts: readonly (readonly [field: string, settings: CheckSettings])[]): {
  settings: CheckSettings;
  lost: readonly LostField[];
} {
  let settings: CheckSettings = {};
  const lost: LostField[] = [];
  for (const [field, more] of parts) {
    const reading = validateSettings('http', { ...settings, ...more });
    if (reading.ok) settings = { ...settings, ...more };
    else
      for (const { setting, problem } of reading.wrong)
        lost.push({ field, reason: `the setting ${setting} ${describeSettingProblem(problem)}` });
  }
  return { settings, lost };
}

/** Headers as settings: those with credentials apart. */
function sortHeaders(headers: ListedRequest['headers']): {
  settings: CheckSettings;
  lost: readonly LostField[];
} {
  const plain: string[] = [];
  const secret: string[] = [];
  const lost: LostField[] = [];
  for (const [name, value] of headers) {
    const line = `${name}: ${value}`;
    const isSecret = namesCredential(name);
    const list = isSecret ? secret : plain;
    const reading = validateSettings('http', { [isSecret ? 'secretHeaders' : 'headers']: [line] });
    if (!reading.ok) lost.push({ field: 'headers', reason: `a check cannot send ${quote(name)}` });
    else if (list.length === MAX_HEADERS)
      lost.push({ field: 'headers', reason: `a check sends at most ${MAX_HEADERS} headers` });
    else list.push(line);
  }
  return {
    settings: {
      ...(plain.length === 0 ? {} : { headers: plain }),
      ...(secret.length === 0 ? {} : { secretHeaders: secret }),
    },
    lost,
  };
}

/** The text that an expression looks for; null: it is no plain text. */
export function plainTextOf(expression: string): string | null {
  const inner = expression.replace(/^\^?\(?\.\*\)?/, '').replace(/\(?\.\*\)?\$?$/, '');
  const isPlain = !/[\\^$.|?*+()[\]{}]/.test(inner.replaceAll(/\\[^\w\s]/g, ''));
  return isPlain && inner !== '' ? inner.replaceAll(/\\([^\w\s])/g, '$1') : null;
}

/** The assertion that an expression matches in a `subject`; one about a text if that is all it looks for. */
export function matchLine(subject: string, expression: string): string {
  const text = plainTextOf(expression);
  return text === null ? `${subject} matches ${expression}` : `${subject} contains ${text}`;
}

/** Maximum number of rules of a check. */
const MAX_RULES = 50;

/** Every status code. */
export const ANY_STATUS: ReadonlySet<number> = new Set(
  Array.from({ length: 900 }, (_, index) => index + 100),
);

/** The statuses that a check accepts, and the rest. */
interface AcceptReading {
  readonly accept: readonly AcceptRule[] | null;
  readonly expectations: readonly Expectation[];
  readonly lost: readonly LostField[];
}

/** The rules for codes; those that a class lacks are expectations if there are too many rules. `field`: the origin of the codes. */
export function acceptCodes(codes: ReadonlySet<number>, field: string): AcceptReading {
  if (codes.size === 0)
    return { accept: STATUS_CLASSES, expectations: [], lost: [{ field, reason: 'no status code meets it' }] };
  const accept = groupCodes(codes);
  if (accept.length <= MAX_RULES) return { accept, expectations: [], lost: [] };
  const missing = STATUS_CLASSES.filter((family) => accept.some((rule) => inClass(rule, family))).flatMap(
    (family) => [...ANY_STATUS].filter((code) => inClass(code, family) && !codes.has(code)),
  );
  return {
    accept: STATUS_CLASSES.filter((family) => accept.some((rule) => inClass(rule, family))),
    expectations: missing.map((code) => ({ field, line: `status is not ${code}` })),
    lost: [],
  };
}

function inClass(rule: AcceptRule, family: string): boolean {
  return rule === family || `${Math.floor(Number(rule) / 100)}xx` === family;
}

/** Codes, classes such as `2xx` and ranges such as `200-299`. */
export function readStatusList(values: readonly unknown[], field: string): AcceptReading {
  const codes = new Set<number>();
  const lost: LostField[] = [];
  for (const value of values) {
    const text = String(value).trim().toLowerCase();
    const [, digit, from, to = from] = /^(?:([1-9])xx|(\d{3})(?:\s*-\s*(\d{3}))?)$/.exec(text) ?? [];
    const [first, last] =
      digit === undefined ? [Number(from), Number(to)] : [Number(digit) * 100, Number(digit) * 100 + 99];
    if (Number.isNaN(first) || first < 100 || last < first)
      lost.push({ field, reason: `${quote(text)} is no range of status codes` });
    else for (let code = first; code <= last; code++) codes.add(code);
  }
  if (codes.size === 0) return { accept: null, expectations: [], lost };
  const rules = acceptCodes(codes, field);
  return { ...rules, lost: [...rules.lost, ...lost] };
}
