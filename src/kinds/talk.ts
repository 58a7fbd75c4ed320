/** Checks that talk with a server by a protocol of its own: the connection, TLS at once or later, and what the talk has found. */
import { type Failure, type FailureCause, failureOf, oneLine } from '../domain/failure.ts';
import { hostInUrl } from '../domain/host-name.ts';
import type { Attempt } from '../domain/result.ts';
import type { ProbedKind } from '../domain/service.ts';
import { Type } from '../json-schema.ts';
import { Dialogue, DialogueBroken } from '../outbound/dialogue.ts';
import { type Fault, targetFault } from '../outbound/fault.ts';
import { attemptOf, PortSetting, type ProbeTools, type Run, type WrongSetting } from './check-kind.ts';
import {
  CLIENT_CERTIFICATE_SETTINGS,
  clientCertificateOf,
  connect,
  refuseClientCertificate,
  timingOf,
} from './connect.ts';
import { judgeExpiry } from './tls.ts';

/** Bytes of a foreign answer that a failure shows. */
const MAX_SHOWN_BYTES = 40;

/** The encryption of a talk: not at all, from the beginning, or after both sides have agreed on it. */
export type Security = 'plain' | 'tls' | 'starttls';

/** The settings of kinds that may use TLS; `choices`: the kinds of encryption that the protocol has. */
export function securitySettings(choices: readonly Security[]) {
  return {
    security: Type.Optional(Type.Unsafe<Security>({ type: 'string', enum: [...choices] })),
    minDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 365 })),
    ...CLIENT_CERTIFICATE_SETTINGS,
  };
}

/** Credentials: they are encrypted before they are stored, and never shown. */
export const SIGN_IN_SETTINGS = {
  username: Type.Optional(Type.String({ format: 'password', minLength: 1, maxLength: 200, writeOnly: true })),
  password: Type.Optional(
    Type.String({ format: 'password', minLength: 1, maxLength: 1_000, writeOnly: true }),
  ),
};

/** The settings of databases: a query, and what its first value must be. */
const QUERY_SETTINGS = {
  query: Type.Optional(Type.String({ minLength: 1, maxLength: 4_000, writeOnly: true })),
  returns: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
};

interface QueryWish {
  readonly query?: string;
  readonly returns?: string;
}

/** The settings of a database that is signed in to, whose names have at most `nameLength` characters. */
export function databaseSettings(nameLength: number) {
  return {
    port: Type.Optional(PortSetting),
    ...securitySettings(['starttls', 'plain']),
    ...SIGN_IN_SETTINGS,
    database: Type.Optional(Type.String({ format: 'password', minLength: 1, maxLength: nameLength })),
    ...QUERY_SETTINGS,
  };
}

/** A sign-in to a database, and what is asked there. */
export interface DatabaseWish extends QueryWish {
  readonly username?: string;
  readonly password?: string;
  readonly database?: string;
}

/** The problems of the settings of such a database. */
export function refuseDatabase(
  settings: TalkSettings & { readonly security?: Security },
  names: ReadonlySet<string>,
): WrongSetting[] {
  const pairs = [
    ['password', 'username'],
    ['query', 'username'],
    ['database', 'username'],
    ['returns', 'query'],
  ] as const;
  return [...refuseTalk(settings, names, settings.security ?? 'plain'), ...refuseAlone(names, pairs)];
}

interface TalkSettings extends QueryWish {
  readonly minDays?: number;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly username?: string;
  readonly password?: string;
}

/** The problem of the settings of a talk that is encrypted by `security`. `names`: as in {@link WrongSetting}s of a kind. */
export function refuseTalk(
  settings: TalkSettings,
  names: ReadonlySet<string>,
  security: Security,
): WrongSetting[] {
  if (security !== 'plain') return refuseClientCertificate(settings, names);
  return ['clientCertificate', 'clientKey', 'minDays']
    .filter((name) => names.has(name))
    .map((setting) => ({ setting, problem: { code: 'together', other: 'security' } as const }));
}

/** Settings without which others say nothing: each pair refuses the first where the second is missing. */
export function refuseAlone(
  names: ReadonlySet<string>,
  pairs: readonly (readonly [setting: string, other: string])[],
): WrongSetting[] {
  return pairs
    .filter(([setting, other]) => names.has(setting) && !names.has(other))
    .map(([setting, other]) => ({ setting, problem: { code: 'together', other } }));
}

/** The verdict of a talk; null: all is good; `blocked`: the server turns us away, which says nothing of others. */
export type TalkVerdict = Failure | 'blocked' | null;

export interface TalkOrder {
  readonly kind: ProbedKind;
  readonly port: number;
  readonly security: Security;
  readonly settings: TalkSettings;
  /** Speaks with the server. `secure` turns the connection to TLS, for `starttls`. */
  readonly speak: (dialogue: Dialogue, secure: () => Promise<void>) => Promise<TalkVerdict>;
  /** The last words; absent: none. */
  readonly farewell?: Uint8Array | string;
}

/** Makes an attempt: connects, speaks, and judges the certificate. */
export async function talk(tools: ProbeTools, run: Run, order: TalkOrder): Promise<Attempt> {
  const { kind, port, security, settings, speak, farewell } = order;
  const { clock, trust, guardOf, destinationOf } = tools;
  const { target, deadline, options } = run;
  const client = clientCertificateOf(settings);
  const url = (scheme: 'http' | 'https') => `${scheme}://${hostInUrl(target.domain)}:${port}/`;
  const connected = await connect(tools, run, kind, {
    url: url(security === 'tls' ? 'https' : 'http'),
    protocols: [],
    client,
  });
  if ('attempt' in connected) return connected.attempt;
  const { socket, phases, startedAt } = connected;
  const dialogue = new Dialogue(clock, socket, deadline, security === 'tls' && client !== null);
  const secure = async () => {
    const destination = destinationOf(url('https'));
    // The same host and port have been read and dialled.
    if ('problem' in destination) throw new TypeError('the address cannot be read');
    const authorities = authoritiesOf(() => trust(target.check.caFile, client));
    const guard = guardOf(target, destination.port);
    await dialogue.secure(
      { destination, guard, trust: authorities, fresh: options.number > 0, protocols: [] },
      phases,
    );
  };
  let verdict: TalkVerdict = null;
  let fault: Fault | null = null;
  try {
    verdict = await speak(dialogue, secure);
    if (farewell === undefined) dialogue.close();
    else dialogue.leave(farewell);
  } catch (error) {
    dialogue.close();
    if (!(error instanceof DialogueBroken)) throw error;
    fault = withoutEcho(error.fault, [settings.query, settings.username, settings.password]);
  }
  phases.firstByteMs = dialogue.firstByteMs;
  const { certificateExpiresAt, intermediate } = phases;
  const expiry = judgeExpiry(certificateExpiresAt, settings.minDays ?? 0, run.startedAt, intermediate);
  const isLate = fault?.failure.class === 'timeout';
  return attemptOf(run, kind, {
    answered: dialogue.answered || fault?.failure.class === 'tls',
    timing: timingOf(phases, dialogue.answered && !isLate ? clock.monotonic() - startedAt : null),
    certificateExpiresAt,
    fault,
    failure: verdict === 'blocked' ? null : (verdict ?? expiry),
    blocked: verdict === 'blocked',
    lostMs: deadline.lostMs,
  });
}

function authoritiesOf<T>(read: () => T): T {
  try {
    return read();
  } catch {
    const fault = targetFault('tls', 'tls', { code: 'authorities_unreadable' });
    throw new DialogueBroken({ ...fault, suspect: 'own_fault' });
  }
}

/** The failure of an answer whose content is not as it should be. */
export function contentFailure(cause: FailureCause): Failure {
  return failureOf('content', 'body', cause);
}

/** The text of a server's error. `secrets`: texts that must not show in it, such as a password. */
export function refusal(text: string, secrets: readonly (string | undefined)[] = []): Failure {
  return contentFailure({ code: 'server_refuses', error: withoutSecrets(text, secrets) });
}

/** A server's text in one line, without the credentials that it may repeat, as text or as its bytes. */
export function withoutSecrets(text: string, secrets: readonly (string | undefined)[]): string {
  const forms = secrets.flatMap((secret = '') => {
    const bytes = Buffer.from(secret).toString('latin1');
    return [secret, bytes, printable(bytes)];
  });
  let shown = text;
  // A name may be a part of its password.
  for (const form of forms.toSorted((a, b) => b.length - a.length))
    if (form.trim() !== '') shown = shown.replaceAll(form, '…');
  return oneLine(shown);
}

/** A server of another protocol may send back what it got. */
function withoutEcho(fault: Fault, secrets: readonly (string | undefined)[]): Fault {
  const { cause } = fault.failure;
  if (cause.code !== 'not_protocol') return fault;
  const text = withoutSecrets(cause.text, secrets).slice(0, MAX_SHOWN_BYTES);
  return { ...fault, failure: { ...fault.failure, cause: { ...cause, text } } };
}

function printable(bytes: string): string {
  return bytes.replace(/[^\x20-\x7e]/g, ' ');
}

/** The failure of an answer by another protocol; `bytes`: its beginning, of which {@link talk} shows a part. */
export function notProtocol(protocol: string, bytes: Uint8Array | string): Failure {
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('latin1');
  return failureOf('protocol', 'body', { code: 'not_protocol', protocol, text: printable(text).trim() });
}

/** Ends the talk, because the answer is by another protocol. */
export function breakOff(failure: Failure): DialogueBroken {
  return new DialogueBroken({ failure, suspect: null });
}
