import fc from 'fast-check';
import t from 'tap';
import {
  MAX_PASTED_LINES,
  type PastedLine,
  readPastedLines,
} from '../../../src/domain/pasted/pasted-lines.ts';
import { validateSettings } from '../../../src/kinds/settings.ts';
import { anyText } from '../../support/any-text.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** A line in short: kind, host, port and name, then settings that the kind does not have by itself. */
function summary({ target, problem }: PastedLine): string {
  if (target === undefined) return problem;
  const { kind, host, port, name, settings, domain } = target;
  const more = Object.keys(settings).length === 0 ? [] : [JSON.stringify(settings)];
  const asked = domain === undefined ? [] : [`asks ${domain}`];
  return [kind, host, port ?? '-', `"${name}"`, ...more, ...asked].join(' ');
}

const LINES: readonly (readonly [typed: string, read: string])[] = [
  ['https://example.org', 'root example.org 443 "example.org"'],
  ['https://example.org/login', 'http example.org 443 "example.org/login" {"path":"/login"}'],
  ['HTTPS://Example.ORG/', 'root example.org 443 "example.org"'],
  ['http://example.org', 'http example.org 80 "example.org" {"plain":true}'],
  ['example.org', 'root example.org 443 "example.org"'],
  ['example.org/login', 'http example.org 443 "example.org/login" {"path":"/login"}'],
  ['example.org:443', 'root example.org 443 "example.org"'],
  ['HTTPS example.org', 'root example.org 443 "example.org"'],
  ['https://münchen.example', 'root xn--mnchen-3ya.example 443 "münchen.example"'],
  ['192.168.1.5:5000', 'tcp 192.168.1.5 5000 "192.168.1.5:5000" {"port":5000}'],
  ['192.168.1.5', 'icmp 192.168.1.5 - "192.168.1.5"'],
  ['router', 'icmp router - "router"'],
  ['printer.lan', 'icmp printer.lan - "printer.lan"'],
  ['fritz.box', 'icmp fritz.box - "fritz.box"'],
  ['nas.fritz.box', 'icmp nas.fritz.box - "nas.fritz.box"'],
  ['ping 10.0.0.1', 'icmp 10.0.0.1 - "10.0.0.1"'],
  ['Ping 10.0.0.3 Router', 'icmp 10.0.0.3 - "Router"'],
  ['ping nas.local # Storage', 'icmp nas.local - "Storage"'],
  ['ping://10.0.0.1', 'icmp 10.0.0.1 - "10.0.0.1"'],
  [
    'http://grafana.internal:3000/api/health',
    'http grafana.internal 3000 "grafana.internal:3000/api/health" {"path":"/api/health","plain":true,"port":3000}',
  ],
  ['http://192.168.1.5', 'http 192.168.1.5 80 "192.168.1.5" {"plain":true}'],
  ['https://192.168.1.2:8006', 'http 192.168.1.2 8006 "192.168.1.2:8006" {"port":8006}'],
  ['192.168.1.5:443', 'http 192.168.1.5 443 "192.168.1.5"'],
  ['192.168.1.5:80', 'http 192.168.1.5 80 "192.168.1.5" {"plain":true}'],
  ['10.0.0.5 8080', 'http 10.0.0.5 8080 "10.0.0.5:8080" {"plain":true,"port":8080}'],
  ['10.0.0.9:8443', 'http 10.0.0.9 8443 "10.0.0.9:8443" {"port":8443}'],
  ['db.internal:5432', 'postgres db.internal 5432 "db.internal:5432"'],
  ['db.internal:3306', 'mysql db.internal 3306 "db.internal:3306"'],
  ['cache:6379', 'redis cache 6379 "cache:6379"'],
  ['mongo:27017', 'mongodb mongo 27017 "mongo:27017"'],
  ['broker.local:1883', 'mqtt broker.local 1883 "broker.local:1883"'],
  ['broker.local:8883', 'mqtt broker.local 8883 "broker.local:8883" {"security":"tls","port":8883}'],
  ['nas:22', 'ssh nas 22 "nas:22"'],
  ['mail.example.org:25', 'smtp mail.example.org 25 "mail.example.org:25"'],
  ['mail.example.org:465', 'smtp mail.example.org 465 "mail.example.org:465" {"security":"tls","port":465}'],
  ['smtp.example.org:587', 'smtp smtp.example.org 587 "smtp.example.org:587" {"port":587}'],
  ['mail.example.org:993', 'tls mail.example.org 993 "mail.example.org:993" {"port":993}'],
  ['192.168.1.1:53', 'dns 192.168.1.1 53 "DNS 192.168.1.1" {"server":"192.168.1.1"} asks example.com'],
  ['dns 9.9.9.9', 'dns 9.9.9.9 53 "DNS 9.9.9.9" {"server":"9.9.9.9"} asks example.com'],
  ['dns example.org', 'dns example.org - "DNS example.org"'],
  ['ssh nas', 'ssh nas 22 "nas"'],
  ['ssh -p 2222 root@nas', 'ssh nas 2222 "nas:2222" {"port":2222}'],
  ['ssh://git@git.example.org:2222', 'ssh git.example.org 2222 "git.example.org:2222" {"port":2222}'],
  ['nc -vz db.internal 5433', 'tcp db.internal 5433 "db.internal:5433" {"port":5433}'],
  ['TCP Port db.internal 5434', 'tcp db.internal 5434 "db.internal:5434" {"port":5434}'],
  ['tcp://10.0.0.4:9100', 'tcp 10.0.0.4 9100 "10.0.0.4:9100" {"port":9100}'],
  ['ftp://10.0.0.4', 'tcp 10.0.0.4 21 "10.0.0.4:21" {"port":21}'],
  ['tls example.org', 'tls example.org 443 "example.org"'],
  ['certificate example.org:8443', 'tls example.org 8443 "example.org:8443" {"port":8443}'],
  ['domain example.org', 'domain example.org - "example.org"'],
  ['smtp mail.example.org', 'smtp mail.example.org 25 "mail.example.org"'],
  ['wss://ws.example.org/feed', 'websocket ws.example.org 443 "ws.example.org/feed" {"path":"/feed"}'],
  [
    'mysql://root:secret@db.internal/app',
    'mysql db.internal 3306 "db.internal" {"username":"root","password":"secret","database":"app"}',
  ],
  [
    'postgres://u:p%40ss@db:5433/x?sslmode=require',
    'postgres db 5433 "db:5433" {"username":"u","password":"p@ss","database":"x","port":5433}',
  ],
  ['redis://:pw@cache:6379/0', 'redis cache 6379 "cache:6379" {"password":"pw"}'],
  ['rediss://cache.internal', 'redis cache.internal 6379 "cache.internal" {"security":"tls"}'],
  ['mongodb://u:p@mongo.internal/db', 'mongodb mongo.internal 27017 "mongo.internal"'],
  [
    'https://user:pass@nas.local:8006/',
    'http nas.local 8006 "nas.local:8006" {"port":8006,"username":"user","password":"pass"}',
  ],
  ['[fd00::1]:8080', 'http fd00::1 8080 "[fd00::1]:8080" {"plain":true,"port":8080}'],
  ['http://[fd00::2]:8123/', 'http fd00::2 8123 "[fd00::2]:8123" {"plain":true,"port":8123}'],
  ['[fd00::1]:22', 'ssh fd00::1 22 "[fd00::1]:22"'],
  ['fd00::5', 'icmp fd00::5 - "fd00::5"'],
  [
    'www.example.net/path?x=1&y=2#frag',
    'http www.example.net 443 "www.example.net/path?x=1&y=2" {"path":"/path?x=1&y=2"}',
  ],
  ['ping -c 4 nas', 'icmp nas - "nas"'],
  ['telnet nas 23', 'tcp nas 23 "nas:23" {"port":23}'],
  ['nc -zv nas 9100', 'tcp nas 9100 "nas:9100" {"port":9100}'],
  ['nas, router; printer', 'icmp nas - "nas" & icmp router - "router" & icmp printer - "printer"'],
  ['port 8123 on 192.168.1.22', 'tcp 192.168.1.22 8123 "192.168.1.22:8123" {"port":8123}'],
  [
    'Plex http://plex.local/ and http://tv.local/ # both',
    'http plex.local 80 "Plex" {"plain":true} & http tv.local 80 "both" {"plain":true}',
  ],
  [
    'Plex http://plex.local/ and http://tv.local/',
    'http plex.local 80 "Plex" {"plain":true} & http tv.local 80 "tv.local" {"plain":true}',
  ],
  // As people keep lists: Markdown, tables, notes of Uptime Kuma, commands.
  ['- https://a.example.org', 'root a.example.org 443 "a.example.org"'],
  ['* [Blog](https://blog.example.org/)', 'root blog.example.org 443 "Blog"'],
  ['- [ ] https://todo.example.org/x', 'http todo.example.org 443 "todo.example.org/x" {"path":"/x"}'],
  ['1. http://10.0.0.2:8080/', 'http 10.0.0.2 8080 "10.0.0.2:8080" {"plain":true,"port":8080}'],
  ['> `nas:5001`', 'tcp nas 5001 "nas:5001" {"port":5001}'],
  ['<https://angle.example.org>', 'root angle.example.org 443 "angle.example.org"'],
  ['"https://quoted.example",', 'root quoted.example 443 "quoted.example"'],
  ['| NAS | http://192.168.1.5 |', 'http 192.168.1.5 80 "NAS" {"plain":true}'],
  ['NAS,http://192.168.1.6', 'http 192.168.1.6 80 "NAS" {"plain":true}'],
  ['"NAS","192.168.1.44"', 'icmp 192.168.1.44 - "NAS"'],
  ['NAS: 192.168.1.5', 'icmp 192.168.1.5 - "NAS"'],
  ['NAS 192.168.1.5:5001 # Synology', 'tcp 192.168.1.5 5001 "Synology" {"port":5001}'],
  ['plex: 192.168.1.5:32400/web', 'http 192.168.1.5 32400 "plex" {"path":"/web","plain":true,"port":32400}'],
  ['Proxmox (https://192.168.1.2:8006)', 'http 192.168.1.2 8006 "Proxmox" {"port":8006}'],
  [
    'HTTP(s) - Home Assistant - http://homeassistant.local:8123',
    'http homeassistant.local 8123 "Home Assistant" {"plain":true,"port":8123}',
  ],
  [
    'Home Assistant = http://ha.local:8123/',
    'http ha.local 8123 "Home Assistant" {"plain":true,"port":8123}',
  ],
  [
    'curl -fsS https://api.example.com/health?x=1#frag',
    'http api.example.com 443 "api.example.com/health?x=1" {"path":"/health?x=1"}',
  ],
  // Heartbeats have names.
  ['backup of the NAS', 'heartbeat backup-of-the-nas - "backup of the NAS"'],
  ['heartbeat restic', 'heartbeat restic - "restic"'],
  ['push Nightly backup', 'heartbeat nightly-backup - "Nightly backup"'],
  ['cron job on web1', 'heartbeat cron-job-on-web1 - "cron job on web1"'],
  ['Überwachung täglich', 'heartbeat uberwachung-taglich - "Überwachung täglich"'],
  ['日本語 バックアップ', 'heartbeat heartbeat - "日本語 バックアップ"'],
  // What is not understood says why.
  ['192.168.1.0/24', 'range'],
  ['10.0.0.1-5', 'range'],
  ['10.0.0.1-10.0.0.5', 'range'],
  ['192.168.1.*', 'range'],
  ['🚀', 'host'],
  ['mysql://root:***@db.internal', 'password'],
  ['http://192.168.1.5:70000', 'port'],
  ['nas:99999', 'port'],
  ['tcp://10.0.0.4', 'port'],
  ['192.168.1.300', 'host'],
  ['http://0x7f.1/', 'host'],
  ['*.example.org', 'host'],
  ['http//broken.example', 'host'],
  ['http://', 'host'],
  ['<script>alert(1)</script>', 'host'],
  ['udp://10.0.0.1:514', 'scheme'],
  ['mongodb+srv://x.example.org', 'scheme'],
  ['12 34', 'unclear'],
];

t.test('it reads what people paste', async (t) => {
  for (const [typed, read] of LINES) t.equal(readPastedLines(typed).map(summary).join(' & '), read, typed);
});

t.test('what it reads are settings of the kind', async (t) => {
  for (const [typed] of LINES)
    for (const { target } of readPastedLines(typed))
      if (target !== undefined) t.match(validateSettings(target.kind, target.settings), { ok: true }, typed);
});

t.test('it leaves out what is no line of its own, and splits lists of addresses', async (t) => {
  const text = '## Servers\r\n\r\n|---|---|\n// old\n; ini\nexample.org, 10.0.0.1 https://example.net\n\n';
  t.same(readPastedLines(text).map(summary), [
    'root example.org 443 "example.org"',
    'icmp 10.0.0.1 - "10.0.0.1"',
    'root example.net 443 "example.net"',
  ]);
  t.same(readPastedLines('').length, 0);
});

t.test('what stands there twice is watched once', async (t) => {
  const lines = readPastedLines('example.org\nhttps://example.org/\nping example.org\nEXAMPLE.org:443');
  t.same(lines.map(summary), [
    'root example.org 443 "example.org"',
    'duplicate',
    'icmp example.org - "example.org"',
    'duplicate',
  ]);
});

t.test('it shows no passwords, and reads a bounded number of lines', async (t) => {
  const [line] = readPastedLines('mysql://root:s3cret@db.internal:3306/app');
  t.equal(line?.typed, 'mysql://root:***@db.internal:3306/app');
  t.equal(readPastedLines('mysql://root:s3/c#ret@db:1')[0]?.typed, 'mysql://root:***@db:1');
  t.equal(readPastedLines('root:s3cret@nas:99999')[0]?.typed, 'root:***@nas:99999');
  t.equal(readPastedLines('https://nas:5001/a@b')[0]?.typed, 'https://nas:5001/a@b');
  const many = readPastedLines(
    Array.from({ length: MAX_PASTED_LINES + 2 }, (_, n) => `10.0.1.${n}`).join('\n'),
  );
  t.equal(many.filter(({ problem }) => problem === 'too_many').length, 2);
  t.match(readPastedLines(`https://example.org/${'x'.repeat(2_000)}`), [{ problem: 'too_long' }]);
});

t.test('it reads any text', async () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      for (const { target } of readPastedLines(text)) {
        if (target === undefined) continue;
        if (target.name === '' || target.name.length > 300)
          throw new Error(`a name of ${target.name.length}`);
        if (
          !validateSettings(target.kind, target.settings).ok &&
          !/[^\x21-\x7e]/.test(JSON.stringify(target.settings))
        )
          throw new Error(`settings ${JSON.stringify(target.settings)}`);
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});
