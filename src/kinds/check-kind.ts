/** A kind of check: its settings, and its attempts. One file of this folder for each kind. */
import type { Clock } from '../clock.ts';
import type { AttemptOptions, CheckTarget } from '../domain/check-target.ts';
import type {
  CredentialPlace,
  CredentialProblem,
  CredentialReading,
  UnreadableCredentials,
} from '../domain/credential-seal.ts';
import { type Failure, type FailureCause, failureOf } from '../domain/failure.ts';
import type { SettingProblem } from '../domain/input-problem.ts';
import { type Attempt, NO_TIMING, type ProbeMemory, type Timing } from '../domain/result.ts';
import type { CheckSettings } from '../domain/service.ts';
import { type Static, type TObject, Type } from '../json-schema.ts';
import type { AddressGuard, DestinationReading } from '../outbound/address-guard.ts';
import type { CertificateRule, ClientCertificate, Trust } from '../outbound/connection.ts';
import type { Deadline } from '../outbound/deadline.ts';
import type { DialParts } from '../outbound/dial.ts';
import type { Fault } from '../outbound/fault.ts';
import type { RecordResolver } from '../outbound/resolver.ts';
import { readRetryAfter } from '../outbound/response-head.ts';
import type { WebResponse } from '../outbound/send-request.ts';
import { isBlocked } from './response-rules.ts';

export interface CheckKind {
  /** The settings: the one source of what forms, commands and files take, and of its validation. */
  readonly settings: TObject;
  /**
   * The problem of settings that fit the schema. `names`: the settings, and the credentials that are stored and stay. Absent: nothing.
   */
  readonly refuse?: (settings: CheckSettings, names: ReadonlySet<string>) => readonly WrongSetting[];
  /** Moves what names a credential by itself among the credentials. Absent: settings stay where they were given. */
  readonly sortSecrets?: (settings: CheckSettings) => CheckSettings;
  /**
   * The destination of credentials: scheme and port at the domain, or the origin of `check.url`. They are sealed for this
   * destination. Absent: the kind has no credentials, which are settings with `writeOnly`.
   */
  readonly destinationOf?: (settings: CheckSettings, url: string | null) => string;
  /** Why this machine cannot make checks of the kind; null: it can. Absent: every machine can. */
  readonly obstacle?: () => FailureCause | null;
  /** The port to which the attempt connects; absent: that of the URL. */
  readonly portOf?: (settings: CheckSettings) => number;
  /** A port to which the attempt may connect although it is not in `checks.ports`; absent: there is none. */
  readonly openPort?: number;
  /** Creates the function that makes the attempts of a thread. It holds what the kind remembers between attempts. */
  readonly prepare: (tools: ProbeTools) => (run: Run) => Promise<Attempt>;
}

/** The parts of a kind with its own settings. */
export interface KindParts<S extends TObject> {
  readonly settings: S;
  /** Of the setting `port`, if the kind has it. */
  readonly defaultPort?: number;
  /** As {@link CheckKind}. */
  readonly openPort?: number;
  /** The port, if it depends on other settings. */
  readonly portOf?: (settings: Static<S>) => number;
  /** As {@link CheckKind}. */
  readonly obstacle?: () => FailureCause | null;
  readonly refuse?: (settings: Static<S>, names: ReadonlySet<string>) => readonly WrongSetting[];
  /** As {@link CheckKind}. */
  readonly sortSecrets?: (settings: CheckSettings & Static<S>) => CheckSettings;
  /** As {@link CheckKind}. */
  readonly destinationOf?: (settings: Static<S>, url: string | null) => string;
  /** As {@link CheckKind}, with the settings of the service. */
  readonly prepare: (tools: ProbeTools) => (run: Run, settings: Static<S>) => Promise<Attempt>;
}

/** Makes a kind whose attempts receive the settings of the service with their types. */
export function defineKind<S extends TObject>(parts: KindParts<S>): CheckKind {
  const { settings, obstacle, defaultPort, openPort, portOf, refuse, sortSecrets, destinationOf, prepare } =
    parts;
  const kind: CheckKind = {
    settings,
    ...(obstacle === undefined ? {} : { obstacle }),
    ...(openPort === undefined ? {} : { openPort }),
    ...(refuse === undefined
      ? {}
      : { refuse: (given, names) => (hasTypes(settings, given) ? refuse(given, names) : []) }),
    ...(sortSecrets === undefined
      ? {}
      : { sortSecrets: (given) => (hasTypes(settings, given) ? sortSecrets(given) : given) }),
    ...(destinationOf === undefined
      ? {}
      : {
          destinationOf: (given, url) => (hasTypes(settings, given) ? destinationOf(given, url) : ''),
        }),
    ...('port' in settings.properties
      ? {
          portOf: (given) =>
            portOf !== undefined && hasTypes(settings, given)
              ? portOf(given)
              : Number(given.port ?? defaultPort),
        }
      : {}),
    prepare(tools) {
      const attempt = prepare(tools);
      return (run) => {
        const reading = settingsOf(tools, kind, run.target);
        if (!reading.ok) return Promise.resolve(withoutCredentials(run, reading.problem));
        const { settings: given } = reading;
        // Settings are validated before they are stored. A service of a later version may have others.
        if (!hasTypes(settings, given)) throw new TypeError('these are not the settings of the kind');
        return attempt(run, given);
      };
    },
  };
  return kind;
}

const NO_SETTINGS: CheckSettings = {};

/** The settings of a target with its credentials in clear text, or why these cannot be read. */
function settingsOf(
  { openCredential, onUnreadable }: ProbeTools,
  { destinationOf }: CheckKind,
  { domain, check }: CheckTarget,
):
  | { readonly ok: true; readonly settings: CheckSettings }
  | { readonly ok: false; readonly problem: CredentialProblem } {
  const { kind, url, settings = NO_SETTINGS, sealed } = check;
  if (sealed === undefined) return { ok: true, settings };
  const destination = destinationOf?.(settings, url) ?? '';
  const opened: Record<string, CheckSettings[string]> = { ...settings };
  for (const [setting, text] of Object.entries(sealed)) {
    const reading = openCredential({ domain, kind, destination, setting }, text);
    if (!reading.ok) {
      onUnreadable?.({ domain, problem: reading.problem });
      return reading;
    }
    opened[setting] = JSON.parse(reading.text);
  }
  return { ok: true, settings: opened };
}

/** The attempt of a check whose credentials cannot be read: nothing is sent, and the fault is ours. */
function withoutCredentials(run: Run, problem: CredentialProblem): Attempt {
  const { kind } = run.target.check;
  const failure = failureOf('protocol', 'dns', { code: 'credentials_unreadable', problem });
  return attemptOf(run, kind === 'heartbeat' ? 'root' : kind, {
    answered: false,
    timing: NO_TIMING,
    fault: { failure, suspect: 'own_fault' },
    failure: null,
    lostMs: 0,
  });
}

/** Returns true if each setting has the type of the schema, and none is missing. */
function hasTypes<S extends TObject>(schema: S, given: CheckSettings): given is CheckSettings & Static<S> {
  const required = schema.required ?? [];
  return Object.entries(schema.properties).every(([name, { type }]) => {
    const value = given[name];
    if (value === undefined) return !required.includes(name);
    if (type === 'array') return Array.isArray(value);
    return typeof value === (type === 'integer' ? 'number' : type);
  });
}

export const PortSetting = Type.Integer({ minimum: 1, maximum: 65_535 });

/** Maximum number of redirects (decisions, "A redirect is followed, at most 5"). */
const MAX_REDIRECTS = 5;

export const RedirectSetting = { followRedirects: Type.Optional(Type.Boolean()) };

/** The number of redirects that a check follows. `usual`: whether it follows them without the setting. */
export function redirectsOf({ followRedirects }: CheckSettings = NO_SETTINGS, usual = true): number {
  return (followRedirects ?? usual) === true ? MAX_REDIRECTS : 0;
}

export interface WrongSetting {
  readonly setting: string;
  readonly problem: SettingProblem;
}

/** Tools that the attempts of a thread share. */
export interface ProbeTools {
  readonly parts: DialParts & { readonly resolver: RecordResolver };
  readonly clock: Clock;
  readonly userAgent: string;
  /**
   * Trusted authorities, with those of the PEM bundle, or what the check trusts instead, and the client certificate. Throws if the bundle
   * cannot be read.
   */
  readonly trust: (caFile: string | null, client?: ClientCertificate | null, rule?: CertificateRule) => Trust;
  /** The guard of a service, by the port of the first connection; null: the check uses no port. */
  readonly guardOf: (
    target: Pick<CheckTarget, 'origin' | 'accountId' | 'check'>,
    port: number | null,
  ) => AddressGuard;
  /** Decrypts a credential for its place. */
  readonly openCredential: (place: CredentialPlace, sealed: string) => CredentialReading;
  /** Called for each attempt whose credentials cannot be read. */
  readonly onUnreadable: ((found: UnreadableCredentials) => void) | undefined;
  /** Parses a URL, with a cache. */
  readonly destinationOf: (url: string) => DestinationReading;
}

/** One attempt to make. */
export interface Run {
  readonly target: CheckTarget;
  readonly options: AttemptOptions;
  readonly deadline: Deadline;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

export interface Finding {
  /** True if the target responded. */
  readonly answered: boolean;
  /** Absent: 0, no HTTP response. */
  readonly statusCode?: number;
  readonly timing: Timing;
  readonly certificateExpiresAt?: number | null;
  /** Why there is no usable response; null: there is one. */
  readonly fault: Fault | null;
  /** The failure of the response; null: it is good. */
  readonly failure: Failure | null;
  /** The target responds, but turns us away, so that it is not down; absent: false. */
  readonly blocked?: boolean;
  /** Time that delays of our own event loop may have added to the response time, milliseconds. */
  readonly lostMs: number;
}

/** The attempt of a check that keeps no probe memory, and whose response says nothing of its own. */
export function attemptOf({ target, startedAt }: Run, via: Attempt['via'], finding: Finding): Attempt {
  const { answered, statusCode = 0, timing, certificateExpiresAt = null, fault, failure, lostMs } = finding;
  const { blocked = false } = finding;
  const { totalMs } = timing;
  return {
    startedAt,
    answered,
    statusCode,
    responseTimeMs: totalMs === null ? null : Math.round(totalMs),
    timing,
    failure: fault?.failure ?? failure,
    reported: null,
    reportedWord: null,
    blocked,
    via,
    certificateExpiresAt,
    retryAfterMs: null,
    suspect: fault?.suspect ?? null,
    lostMs,
    headUnproven: false,
    memory: target.memory,
  };
}

/** The attempt of a service whose address cannot be requested. */
export function invalidAddress(
  run: Run,
  via: Attempt['via'],
  { problem }: Extract<DestinationReading, { readonly problem: object }>,
): Attempt {
  const failure = failureOf('protocol', 'dns', { code: 'service_address_invalid', problem });
  return attemptOf(run, via, { answered: false, timing: NO_TIMING, fault: null, failure, lostMs: 0 });
}

/** The judgement of an HTTP response. */
export interface Judgement {
  readonly failure: Failure | null;
  readonly reported?: Attempt['reported'];
  readonly reportedWord?: Attempt['reportedWord'];
  readonly headUnproven?: boolean;
  readonly via: Attempt['via'];
  readonly memory: ProbeMemory;
}

/** The attempt of an HTTP request, from its final response and the judgement of it. A bot wall and 429 are `blocked`. */
export function webAttemptOf(
  startedAt: number,
  response: Pick<
    WebResponse,
    'statusCode' | 'headers' | 'timing' | 'certificateExpiresAt' | 'fault' | 'lostMs'
  >,
  judgement: Judgement,
  now: () => number,
): Attempt {
  const { failure, reported = null, reportedWord = null, headUnproven = false, via, memory } = judgement;
  const { fault, statusCode, timing, certificateExpiresAt, headers, lostMs } = response;
  const { totalMs } = timing;
  const blocked = fault === null && isBlocked(response);
  return {
    startedAt,
    answered: statusCode !== 0,
    statusCode,
    responseTimeMs: totalMs === null ? null : Math.round(totalMs),
    timing,
    failure: fault?.failure ?? failure,
    reported,
    reportedWord,
    blocked,
    via,
    certificateExpiresAt,
    retryAfterMs: blocked && statusCode === 429 ? readRetryAfter(headers['retry-after'], now()) : null,
    suspect: fault?.suspect ?? null,
    lostMs,
    headUnproven,
    memory,
  };
}
