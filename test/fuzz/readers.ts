/** Everything that reads input from outside, as targets of fuzzing. The API over HTTP is in `api-requests.ts`. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { membersOfCheck, readWantedCheck } from '../../src/api/healthchecks/read-check.ts';
import { readCatalogue } from '../../src/catalogue/read-catalogue.ts';
import { readApplyFiles } from '../../src/cli/apply/read-files.ts';
import { readImport } from '../../src/cli/import/read-import.ts';
import { correctTimes, decodeResults } from '../../src/cluster/results/result-stream.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { readTime } from '../../src/domain/durations.ts';
import { readHeartbeat } from '../../src/domain/heartbeat/heartbeat-body.ts';
import { readHostName } from '../../src/domain/host-name.ts';
import { readRule } from '../../src/domain/incident/recurrence.ts';
import { readAddress } from '../../src/domain/special-address.ts';
import { readFeedDocument } from '../../src/feeds/build-entry.ts';
import { FEED_KINDS } from '../../src/feeds/kinds-table.ts';
import { readCookie } from '../../src/http/cookies.ts';
import { readDestination } from '../../src/outbound/address-guard.ts';
import { decodeReply, type RecordType } from '../../src/outbound/name-message.ts';
import { readBody } from '../../src/outbound/read-body.ts';
import { createBodyReader, framingOf } from '../../src/outbound/response-body.ts';
import { HeadReader } from '../../src/outbound/response-head.ts';
import { receiveRecord } from '../../src/store/status/redis-status-keys.ts';
import { postMarkup } from '../../src/web/parts/incidents.ts';
import { faultsOf } from '../feeds/reading-faults.ts';
import { SAMPLE_FEED_URLS } from '../support/feed-urls.ts';
import { ANSWERS } from './answers.ts';
import type { FuzzTarget } from './fuzz.ts';

const ROOT = join(import.meta.dirname, '../..');
const NOW = Date.UTC(2026, 8, 20, 12);
const load = (path: string) => readFileSync(join(ROOT, path), 'utf8');
/** All files of a folder that end so, the shorter ones, since long ones only slow the cases down. */
const loadAll = (folder: string, end: RegExp) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => end.test(name))
    .map((name) => load(join(folder, name)))
    .filter((text) => text.length < 20_000);

/** Errors by which a reader says that its input is wrong; a long text would repeat the input. */
function promised(names: readonly string[], read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Error) || !names.includes(error.constructor.name)) throw error;
    if (error.message.length > 100_000) throw new Error('the error repeats the input');
  }
}

const configuration: FuzzTarget[] = [
  {
    name: 'configuration',
    examples: [load('config/upbeat.yaml').slice(0, 6_000), ...loadAll('test/config/bad', /\.yaml$/)],
    read: (input) =>
      promised(['ConfigError'], () =>
        loadConfig({
          ...{ file: 'fuzz.yaml', env: {} },
          readFile: (path) => (path === 'fuzz.yaml' ? input.toString() : ''),
        }),
      ),
  },
  {
    name: 'environment',
    examples: [
      'UPBEAT_HTTP_PORT=1\0UPBEAT_CHECKS_INTERVAL=5m',
      'UPBEAT_STORAGE_REDIS_URL=redis://:pw@h:1/?prefix=a',
      'UPBEAT_AUTH_PROVIDERS=[{id: a, kind: oidc}]',
      'UPBEAT_CHECKS_ALLOWPRIVATE=10.0.0.0/8,::1/128',
    ],
    read: (input) => {
      const pairs = input
        .toString()
        .split('\0')
        .map((line) => line.split(/=(.*)/s).slice(0, 2));
      const env = Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value]));
      promised(['ConfigError'], () => loadConfig({ file: null, env, readFile: () => '' }));
    },
  },
  {
    name: 'catalogue',
    examples: [
      load('config/catalogue.yaml').slice(0, 3_000),
      'services:\n  - { slug: a, name: A, domain: a.com, category: cloud, check: { kind: root, url: "http://127.0.0.1:1/", accept: [2xx, 401] } }\n',
    ],
    read: (input) => promised(['CatalogueError'], () => readCatalogue(input.toString(), 'fuzz.yaml')),
  },
];

const feedFixtures = readdirSync(join(ROOT, 'test/feeds/fixtures')).filter((name) =>
  /\.(json|xml)$/.test(name),
);
const feeds = Object.entries(FEED_KINDS).flatMap(([kind, { addresses }]): FuzzTarget[] => {
  const own = feedFixtures.filter((name) => name.startsWith(kind.slice(0, 5)));
  const examples = (own.length > 0 ? own : feedFixtures).map((name) => load(`test/feeds/fixtures/${name}`));
  const documents = addresses({
    pageUrl: 'https://status.example.com/page',
    feedUrl: SAMPLE_FEED_URLS[kind] ?? null,
  });
  return [
    {
      name: `feed-${kind}`,
      weight: 2,
      examples: examples.map((text) => text.slice(0, 8_000)),
      read(input) {
        for (const address of documents)
          promised(['FeedFormatError'], () => {
            const faults = faultsOf(readFeedDocument(address, input, NOW), NOW);
            if (faults.length > 0) throw new RangeError(faults[0]);
          });
      },
    },
  ];
});

const RECORDS: readonly RecordType[] = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'TXT', 'CAA', 'SRV', 'SOA', 'PTR'];
const network: FuzzTarget[] = [
  {
    name: 'dns',
    weight: 20,
    examples: [
      'AAeBgAABAAEAAAAABHNob3AHZXhhbXBsZQAAAQABwAwAAQABAAAAPAAEwAACAQ==',
      'AAeBgAABAAIAAAAABHNob3AHZXhhbXBsZQAAAQABwAwABQABAAAABQAHBGVkZ2XAEcAqAAEAAQAAADwABMAAAgE=',
      'AAeBgAABAAEAAAAABHNob3AHZXhhbXBsZQAAEAABwAwAEAABAAAAPAAJBG9uZSADdHdv',
    ].map((text) => Buffer.from(text, 'base64').toString('latin1')),
    read(input) {
      // Bytes above 127 came as two bytes of UTF-8, which makes them wrong, and as they were.
      for (const packet of [input, Buffer.from(input.toString('utf8'), 'latin1')])
        for (const type of RECORDS) decodeReply(packet, { name: 'shop.example', type });
    },
  },
  {
    name: 'answer-of-a-target',
    weight: 15,
    examples: [
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
      'HTTP/1.0 302 Found\nLocation: /x\nSet-Cookie: a\n b\n\n',
    ],
    async read(input) {
      const heads = new HeadReader();
      const body: Buffer[] = [];
      let at = 0;
      for (let guard = 0; guard < 10_000; guard++) {
        const head = heads.read(input, at);
        if (head === null || 'problem' in head) return;
        at = heads.bodyOffset;
        if (head.statusCode < 200) continue;
        const framing = framingOf('GET', head.statusCode, head.headers);
        if (framing.kind === 'invalid') return;
        const reader = createBodyReader(framing, (data) => void body.push(Buffer.from(data)));
        reader.read(input, at);
        await readBody({ body: Buffer.concat(body), headers: head.headers, overlong: false }, 65_536);
        return;
      }
      throw new Error('interim responses do not end');
    },
  },
  {
    name: 'address',
    weight: 6,
    examples: [
      'https://user:pw@example.com:8443/a?b#c',
      '[::ffff:127.0.0.1]',
      'bücher.de',
      'a.b.example.co.uk.',
      '0x7f.1',
    ],
    read(input) {
      const text = input.toString();
      readDestination(text);
      readDestination(text, 'https://example.com/');
      readAddress(text);
      const name = readHostName(text);
      if ('domain' in name && typeof name.domain === 'string' && !/^[a-z0-9._-]+$/.test(name.domain))
        throw new Error(`${name.domain} is no host name`);
    },
  },
];

const words: FuzzTarget[] = [
  {
    name: 'heartbeat',
    weight: 6,
    examples: [
      '{"domain":"shop.example.com","status":"ok","timestamp":"2026-11-20T10:00:00.000Z","checks":{"db":{"status":"ok","latency":12}},"run":"n-7"}',
      '{"domain":"bücher.de","status":"DOWN","checks":{}}',
      'a log of a job\nline 2',
    ],
    read(input) {
      for (const kind of ['beat', 'start', 'fail'] as const) {
        const reading = readHeartbeat(input.toString(), kind);
        if (!reading.ok && reading.problem.length > 500) throw new Error('the problem repeats the input');
      }
    },
  },
  {
    name: 'check-of-healthchecks',
    weight: 3,
    examples: [
      '{"name":"Backup","slug":"backup","tags":"prod db","desc":"x","timeout":60,"grace":60,"unique":["name"]}',
      '{"schedule":"30 3 * * 1-5","tz":"Europe/Berlin","methods":"","manual_resume":false,"channels":"*"}',
    ],
    read: (input) => promised(['HttpError'], () => membersOfCheck(readWantedCheck(input))),
  },
  {
    name: 'time-and-rule',
    weight: 6,
    examples: [
      '2026-11-20T10:00:00.000Z',
      'FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=3',
      'FREQ=MONTHLY;BYSETPOS=-1;BYDAY=FR',
      'upbeat=abc; b="c"',
    ],
    read(input) {
      const text = input.toString();
      readTime(text);
      readRule(text);
      readCookie(text, 'upbeat');
    },
  },
  {
    name: 'markdown',
    examples: [
      '# A **b** [c](https://d.example) `e`\n\n- f\n\n> g\n\n```\nh\n```',
      '![x](y "z") <b onclick=1>',
      '[a]: javascript:1\n[a]',
    ],
    async read(input) {
      const html = await postMarkup(input.toString().slice(0, 10_000));
      const tags = [...html.matchAll(/<([a-z][a-z0-9]*)((?:[^>"]|"[^"]*")*)>/gi)];
      for (const [tag, name = '', attributes = ''] of tags)
        if (
          /^(script|img|iframe|style|svg|object|form|input)$/i.test(name) ||
          /\son\w+=|javascript:|data:/i.test(
            attributes.replaceAll(/"[^"]*"/g, (value) =>
              /^"\s*(javascript|data):/i.test(value) ? value : '""',
            ),
          )
        )
          throw new Error(`it lets ${tag} through`);
    },
  },
];

const files: FuzzTarget[] = [
  {
    name: 'import',
    examples: [
      'Name,Domain,kind,category,colour\n"Shop, the big one",shop.example,health,ecommerce,red\n',
      'services: [{ domain: a.example, kind: http, settings: { path: /x } }]',
      ...loadAll('test/cli/fixtures', /\.(yaml|json)$/),
    ],
    read(input) {
      for (const name of ['list.csv', 'list.yaml', 'list.json'])
        promised(['ImportError'], () => readImport(input.toString(), name));
    },
  },
  {
    name: 'apply',
    examples: [
      'services:\n  - domain: shop.example.com\n    name: Our shop\n    check: { kind: http, settings: { path: /x, token: { from: TOKEN } } }\npages:\n  - slug: acme\n    title: Acme\n    groups: [{ services: [shop.example.com] }]\n',
      'a: &a [1, 2]\nb: *a\n---\nc: d',
    ],
    read(input) {
      const folder = mkdtempSync(join(tmpdir(), 'upbeat-fuzz-'));
      const file = join(folder, 'fuzz.yaml');
      writeFileSync(file, input);
      try {
        promised(['ApplyFileError'], () => readApplyFiles([file], { TOKEN: 'x' }));
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  },
];

const cluster: FuzzTarget[] = [
  {
    name: 'cluster-results',
    weight: 5,
    examples: [
      '{"form":1,"node":"eu-1","region":"eu","offset":-12,"suspect":[],"failures":[],"words":[]}\n' +
        'A'.repeat(152),
      '{"form":2,"node":"n","region":"eu","offset":0,"suspect":[0],"failures":[{"at":0}],"words":["x"]}\n' +
        '\0'.repeat(304),
    ],
    read(input) {
      const end = input.indexOf(10);
      const head = input.subarray(0, end === -1 ? input.length : end).toString();
      const decoded = decodeResults(head, end === -1 ? Buffer.alloc(0) : input.subarray(end + 1));
      if (decoded !== null) correctTimes(decoded);
    },
  },
  {
    name: 'cluster-status',
    weight: 5,
    examples: [
      '7\n{"serviceId":1,"seq":2,"observedAt":3,"status":"up","since":4,"latest":null}',
      '{"epoch":7}{"serviceId":1,"seq":2,"observedAt":3,"status":"down","since":4,"latest":{"status":"down"},"scope":"partial"}',
    ],
    read(input) {
      const stored = receiveRecord(input.toString());
      if (stored !== null && 'read' in stored.record) stored.record.read();
    },
  },
];

/** All of them. */
export const READERS: readonly FuzzTarget[] = [
  ...configuration,
  ...feeds,
  ...network,
  ...words,
  ...files,
  ...cluster,
  ...ANSWERS,
];
