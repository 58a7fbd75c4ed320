/** The words, schemes and ports of pasted lines, and the kinds of checks that they stand for. */
import type { CheckKind, CheckSettings } from '../service.ts';

/** The service behind a scheme or a port. */
export interface KnownService {
  readonly kind: CheckKind;
  /** Null: that of the kind. */
  readonly port: number | null;
  readonly settings: CheckSettings;
}

function known(kind: CheckKind, port: number | null = null, settings: CheckSettings = {}): KnownService {
  return { kind, port, settings };
}

const PLAIN = { plain: true };
const IN_TLS = { security: 'tls' };

/** Schemes of addresses, in lower case. */
export const SCHEMES: ReadonlyMap<string, KnownService> = new Map([
  ['http', known('http', null, PLAIN)],
  ['https', known('http')],
  ['ws', known('websocket', null, PLAIN)],
  ['wss', known('websocket')],
  ['ping', known('icmp')],
  ['icmp', known('icmp')],
  ['tcp', known('tcp')],
  ['tls', known('tls')],
  ['ssl', known('tls')],
  ['dns', known('dns')],
  ['ssh', known('ssh')],
  ['sftp', known('ssh')],
  ['smtp', known('smtp')],
  ['smtps', known('smtp', 465, IN_TLS)],
  ['postgres', known('postgres')],
  ['postgresql', known('postgres')],
  ['mysql', known('mysql')],
  ['mariadb', known('mysql')],
  ['redis', known('redis')],
  ['rediss', known('redis', null, IN_TLS)],
  ['valkey', known('redis')],
  ['mongodb', known('mongodb')],
  ['mqtt', known('mqtt')],
  ['mqtts', known('mqtt', 8883, IN_TLS)],
  ['grpc', known('grpc', null, PLAIN)],
  ['grpcs', known('grpc')],
  ['ftp', known('tcp', 21)],
  ['imap', known('tcp', 143)],
  ['imaps', known('tls', 993)],
  ['pop3', known('tcp', 110)],
  ['pop3s', known('tls', 995)],
  ['ldap', known('tcp', 389)],
  ['ldaps', known('tls', 636)],
  ['smb', known('tcp', 445)],
  ['nfs', known('tcp', 2049)],
  ['rtsp', known('tcp', 554)],
  ['rdp', known('tcp', 3389)],
  ['vnc', known('tcp', 5900)],
  ['amqp', known('tcp', 5672)],
  ['amqps', known('tls', 5671)],
]);

/** Words before an address or the name of a heartbeat, in lower case. */
export const WORDS: ReadonlyMap<string, CheckKind> = new Map<string, CheckKind>([
  ['ping', 'icmp'],
  ['icmp', 'icmp'],
  ['http', 'http'],
  ['https', 'http'],
  ['tcp', 'tcp'],
  ['port', 'tcp'],
  ['telnet', 'tcp'],
  ['nc', 'tcp'],
  ['tls', 'tls'],
  ['ssl', 'tls'],
  ['certificate', 'tls'],
  ['dns', 'dns'],
  ['dig', 'dns'],
  ['nslookup', 'dns'],
  ['ssh', 'ssh'],
  ['sftp', 'ssh'],
  ['smtp', 'smtp'],
  ['postgres', 'postgres'],
  ['postgresql', 'postgres'],
  ['psql', 'postgres'],
  ['mysql', 'mysql'],
  ['mariadb', 'mysql'],
  ['redis', 'redis'],
  ['valkey', 'redis'],
  ['mongodb', 'mongodb'],
  ['mongo', 'mongodb'],
  ['mqtt', 'mqtt'],
  ['websocket', 'websocket'],
  ['grpc', 'grpc'],
  ['domain', 'domain'],
  ['heartbeat', 'heartbeat'],
  ['push', 'heartbeat'],
]);

const PORTS: ReadonlyMap<number, KnownService> = new Map([
  [22, known('ssh')],
  [25, known('smtp')],
  [53, known('dns')],
  [80, known('http', null, PLAIN)],
  [443, known('http')],
  [465, known('smtp', null, IN_TLS)],
  [587, known('smtp')],
  [636, known('tls')],
  [993, known('tls')],
  [995, known('tls')],
  [1883, known('mqtt')],
  [3306, known('mysql')],
  [5432, known('postgres')],
  [6379, known('redis')],
  [8080, known('http', null, PLAIN)],
  [8443, known('http')],
  [8883, known('mqtt', null, IN_TLS)],
  [27_017, known('mongodb')],
]);

/** The service behind a port; of an unknown port, a connection alone is checked. */
export function kindOfPort(port: number): KnownService {
  return PORTS.get(port) ?? known('tcp');
}

/** The text in place of a password. */
export const HIDDEN_PASSWORD = '***';

/** The line without the marks of lists, quotes, tables and code. */
export function withoutDecoration(line: string): string {
  return line
    .replace(/^\uFEFF/, '')
    .replace(/[\u200B\u00A0\u3000]/g, ' ')
    .trim()
    .replace(/^(?:>\s*)+/, '')
    .replace(/^(?:[-*+•‣·–]|\d{1,3}[.)])\s+/, '')
    .replace(/^\[[ xX]\]\s+/, '')
    .replace(/^\|\s*|\s*\|$/g, '')
    .replace(/^[`"']+(.*?)[`"',;]+$/, '$1')
    .trim();
}

/** The pieces of a line that has several URLs, each with the words before it; the words after the last one are its own. */
export function splitUrls(line: string): string[] {
  const pieces: string[] = [];
  let words: string[] = [];
  for (const token of line.split(/\s+/)) {
    if (token.includes('://') && words.some((word) => word.includes('://'))) {
      const end = words.findIndex((word) => word.includes('://')) + 1;
      pieces.push(words.slice(0, end).join(' '));
      words = words.slice(end);
    }
    words.push(token);
  }
  return pieces.length === 0 ? [line] : [...pieces, words.join(' ')];
}

/** The line with `***` in place of passwords of addresses. A number before a slash is a port. */
export function hidePassword(line: string): string {
  return line.replace(/\S+/g, (token) => {
    const end = token.lastIndexOf('@');
    const [before] = /^(?:.*?:\/\/)?[^/:@]*:(?!\/\/|\d+\/)/.exec(token.slice(0, Math.max(end, 0))) ?? [];
    return before === undefined ? token : before + HIDDEN_PASSWORD + token.slice(end);
  });
}
