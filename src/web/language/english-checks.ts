/** Texts of the kinds of checks and of their settings, in English. */
import type { CheckKind } from '../../domain/service.ts';
import type { MemberName } from '../../kinds/check-members.ts';
import type { WordOf } from '../../language/phrase.ts';
import type { TextMember } from '../../resources/services/service-document.ts';

/** The texts. */
export const englishChecks = {
  /** The ways to monitor a service, for a choice. */
  kind: {
    health: 'health endpoint (/api/health), with a fallback',
    root: 'HEAD request to the root',
    tcp: 'TCP connection',
    tls: 'TLS handshake and certificate',
    http: 'Custom HTTP request',
    websocket: 'WebSocket handshake and first message',
    grpc: 'gRPC health service',
    icmp: 'ping (ICMP echo)',
    dns: 'DNS records',
    smtp: 'SMTP (mail server)',
    ssh: 'SSH server',
    heartbeat: 'heartbeats sent by the service',
  } satisfies WordOf<CheckKind>,
  /** How the last check was made, at the end of a sentence. */
  source: {
    tcp: 'by a TCP connection',
    tls: 'by a TLS handshake',
    http: 'by an HTTP request',
    websocket: 'by a WebSocket handshake',
    grpc: 'by a call of its gRPC health service',
    icmp: 'by ping',
    dns: 'by a query for its DNS records',
    smtp: 'by a greeting over SMTP',
    ssh: 'by the beginning of an SSH session',
    heartbeat: 'from its heartbeat',
    silence: 'because no heartbeat arrived',
  } satisfies WordOf<Exclude<CheckKind | 'silence', 'root' | 'health'>>,
  /** The source of kinds `root` and `health`. */
  requested: (address: string) => `by a request to ${address}`,
  /** What a check names, in brackets after its source. */
  portDetail: (port: number) => `port ${port}`,
  pathDetail: (path: string) => `path ${path}`,
  expectationsDetail: (count: number) => (count === 1 ? '1 expectation' : `${count} expectations`),
  /** Settings of all kinds by their names. A test compares them with the schemas. */
  setting: new Map([
    ['port', 'Port'],
    ['banner', 'Text in the greeting of the server'],
    ['minDays', 'Days for which the certificate must be valid'],
    ['path', 'Path'],
    ['plain', 'Use HTTPS or TLS (on by default)'],
    ['method', 'Method'],
    ['followRedirects', 'Follow redirects'],
    ['headers', 'Headers (Name: value), one in each line'],
    ['username', 'User name'],
    ['password', 'Password'],
    ['token', 'Bearer token'],
    ['secretHeaders', 'Headers with credentials (Name: value), one in each line'],
    ['clientCertificate', 'Client certificate with its intermediates (PEM)'],
    ['clientKey', 'Key of the client certificate (PEM, without a passphrase)'],
    ['body', 'Body of the request'],
    ['assertions', 'Expectations, one in each line, such as: body contains ok'],
    ['subprotocol', 'Subprotocol'],
    ['send', 'Text to send after the handshake'],
    ['contains', 'Text in the first message'],
    ['matches', 'Regular expression (RE2) that the first message matches'],
    ['service', 'Name of the gRPC service; none: the whole server'],
    ['record', 'Type of the record'],
    ['prefix', 'Labels in front of the domain, such as _dmarc'],
    ['server', 'Name server; without: those of the system'],
    ['values', 'Expected values, one in each line'],
    ['exact', 'No other values'],
    ['security', 'Encryption'],
  ]),
  accept: 'Expected statuses',
  url: 'Check URL (at the domain or a name below it)',
  method: 'Method of the first request',
  /** What a service and its check may have, by the names of the members. */
  member: {
    interval: 'Check interval',
    timeout: 'Timeout',
    slowOver: 'Slow threshold',
    confirmAfter: 'Retry delays (or none)',
    regions: 'Regions',
    period: 'Heartbeat at least every',
    grace: 'Grace period',
    schedule: 'Or by a cron schedule',
    timezone: 'Time zone of the schedule',
    note: 'Note for members',
  } satisfies WordOf<MemberName | TextMember>,
  tryIt: 'Try it',
  trial: 'Tried once:',
  trialNote: 'Nothing has been saved.',
  trialSecrets: 'Enter the credentials again before you save.',
  trialFault: (why: string) => `it says nothing about the service, the fault is ours: ${why}`,
  trialsUsed: (seconds: number) => `Too many trials within a minute: wait ${seconds} s.`,
  yes: 'yes',
  no: 'no',
  standard: 'default',
  unreadable:
    'The credentials of this check cannot be decrypted: the key of this installation is another one now. The check is not made, and the status stays as it is. Enter the credentials again.',
  keptSecret: 'stored; enter a new one to replace it',
  removeSecret: 'remove the stored one',
};
