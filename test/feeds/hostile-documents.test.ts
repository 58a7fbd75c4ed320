/**
 * Every reader against what a vendor, or an attacker in its place, could send: a reader gives entries within their
 * bounds, or says that the document is not of its kind, and does so soon.
 */

import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { type FeedReading, readFeedDocument } from '../../src/feeds/build-entry.ts';
import { type FeedAddress, FeedFormatError } from '../../src/feeds/feed-kind.ts';
import { FEED_KINDS } from '../../src/feeds/kinds-table.ts';
import { SAMPLE_FEED_URLS } from '../support/feed-urls.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { faultsOf } from './reading-faults.ts';

const NOW = Date.UTC(2026, 8, 20, 12);
const FIXTURES = new URL('fixtures/', import.meta.url);
const MIB = 1024 * 1024;

/** More than the 2,000 that a reading may have. */
const ENTRIES = 2_100;

/** Kinds whose documents are XML. */
const XML_KINDS = new Set(['azure', 'rss', 'atom', 'statuscast']);

/** Any document takes a small part of this, on a machine that does nothing else. */
const SOON_MS = 10_000;

interface Reader {
  readonly kind: string;
  readonly address: FeedAddress;
}

/** Every document of every kind. */
const readers: readonly Reader[] = Object.entries(FEED_KINDS).flatMap(([kind, { addresses }]) =>
  addresses({
    pageUrl: 'https://status.example.com/page',
    feedUrl: SAMPLE_FEED_URLS[kind] ?? null,
  }).map((address) => ({ kind, address })),
);

interface Fixture {
  readonly name: string;
  readonly bytes: Buffer;
  /** The readers that it was written for. */
  readonly readers: readonly Reader[];
}

/** Those that the tests wrote, `<kind>-<document>.json`, and those that were recorded, `<kind>.<document>.<what>.json`. */
const fixtures: readonly Fixture[] = [FIXTURES, new URL('recorded/', FIXTURES)].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => /\.(?:json|xml|html)$/.test(name))
    .map((name) => {
      const [, kind = '', document = ''] = /^([a-z\d]+)[-.]?([^.]*)\./.exec(name) ?? [];
      const own = readers.filter((reader) => reader.kind === kind);
      const named = own.filter(({ address }) => address.name === document);
      return { name, bytes: readFileSync(new URL(name, folder)), readers: named.length > 0 ? named : own };
    }),
);

/** Reads a document; throws an error that says what is wrong with the reader. */
function tryReader({ kind, address }: Reader, body: Uint8Array | string): FeedReading | null {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const started = performance.now();
  let reading: FeedReading | null = null;
  try {
    reading = readFeedDocument(address, bytes, NOW);
  } catch (error) {
    if (!(error instanceof FeedFormatError))
      throw new Error(`${kind} ${address.name} threw`, { cause: error });
    if (error.message.length > 300) throw new Error(`${kind} ${address.name} quotes the document at length`);
  }
  const faults = reading === null ? [] : faultsOf(reading, NOW);
  const elapsedMs = performance.now() - started;
  if (elapsedMs > SOON_MS) faults.push(`it took ${Math.round(elapsedMs)} ms`);
  if (faults.length > 0) throw new Error(`${kind} ${address.name}: ${faults.slice(0, 5).join('\n')}`);
  return reading;
}

/** Values that readers meet where they expect another. */
const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    ...[
      null,
      true,
      0,
      -1,
      1e308,
      1_790_000_000,
      '',
      ' ',
      '0',
      'null',
      '__proto__',
      '\ud800',
      '\u202e\0',
      'x'.repeat(400),
    ],
    ...[
      '<script>alert(1)</script>',
      '&lt;img src=x onerror=y&gt;',
      '<b',
      '&#0;&#x202e;',
      'javascript:alert(1)',
      '](x)',
    ],
    ...[
      '1999-12-31T00:00:00Z',
      '2026-09-20T09:00:00Z',
      '2099-12-31T23:59:59Z',
      'Sun, 20 Sep 2026 10:00:00 GMT',
    ],
    ...[
      '//evil.example/\u0000',
      'https://u:p@evil.example/',
      'resolved',
      'RESOLVED',
      'constructor',
      'toString',
    ],
  ),
  fc.string({ maxLength: 30 }),
  fc.integer(),
  fc.jsonValue({ maxDepth: 2 }),
);

/** A fixture of JSON with some of its values exchanged, left out, or repeated. */
function mutateJson(text: string): fc.Arbitrary<string> {
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), oddValue), { minLength: 1, maxLength: 6 });
  return changes.map((list) => {
    const top: unknown = JSON.parse(text);
    for (const [place, how, value] of list) changeOne(top, place, how, value);
    return JSON.stringify(top);
  });
}

type Holder = Record<string, unknown>;

/** Changes the value at one of the places of a document. */
function changeOne(top: unknown, place: number, how: number, value: unknown): void {
  const places: [Holder, string][] = [];
  const collect = (holder: unknown) => {
    if (typeof holder !== 'object' || holder === null) return;
    for (const name of Object.keys(holder)) {
      places.push([holder as Holder, name]);
      collect((holder as Holder)[name]);
    }
  };
  collect(top);
  const [holder, name] = places[place % Math.max(1, places.length)] ?? [];
  if (holder === undefined || name === undefined) return;
  if (how === 0 && Array.isArray(holder)) holder.push(structuredClone(holder[Number(name)]));
  else if (how === 0) Reflect.deleteProperty(holder, name);
  else if (how === 1) holder[name] = [holder[name], value];
  else holder[name] = value;
}

/** Bytes of a fixture, some of them exchanged, cut away or repeated. */
function mutateBytes(bytes: Buffer): fc.Arbitrary<Uint8Array> {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 8 }),
    fc
      .constantFrom(
        ...[
          '<',
          '>',
          '&',
          ']]>',
          '<![CDATA[',
          '<!--',
          '</item>',
          '<item>',
          '<entry>',
          '"',
          '{',
          '[',
          '}',
          ']',
          '\\',
        ],
        ...[
          '<!DOCTYPE x [<!ENTITY a "b">]>',
          '&lt;script&gt;',
          '&amp;lt;script&amp;gt;',
          '<title>',
          '\u202e',
          '\0',
          'xmlns:a=',
        ],
      )
      .map((text) => Buffer.from(text)),
  );
  const cuts = fc.array(fc.tuple(fc.nat({ max: bytes.length }), fc.nat({ max: 20 }), piece), {
    maxLength: 6,
  });
  return cuts.map((list) => {
    let mutated = bytes;
    for (const [at, length, insert] of list)
      mutated = Buffer.concat([mutated.subarray(0, at), insert, mutated.subarray(at + length)]);
    return mutated;
  });
}

/** A fixture with the entries of its lists repeated, each with texts of its own, up to about `count`. */
function multiply({ name, bytes }: Fixture, count: number): string {
  const text = bytes.toString('utf8');
  if (name.endsWith('.xml')) {
    const item = /<(item|entry)[\s>].*<\/\1>/s.exec(text)?.[0] ?? '';
    const each = item === '' ? 1 : item.split(/<\/(?:item|entry)>/).length - 1;
    const copies = Math.min(Math.floor(count / each), Math.floor((2 * MIB) / Math.max(1, item.length)) - 1);
    const copy = (_: unknown, index: number) => item.replaceAll(/(<\/(?:guid|id)>)/g, `-${index}$1`);
    return text.replace(item, () => Array.from({ length: copies }, copy).join(''));
  }
  const repeat = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      const list = value.map(repeat);
      const objects = list.filter((item) => typeof item === 'object' && item !== null);
      const copies = objects.length === 0 ? 1 : Math.ceil(count / objects.length);
      return Array.from({ length: copies }, (_, index) =>
        list.map((item) =>
          typeof item === 'object' && item !== null ? { ...item, ...ownIds(item, index) } : item,
        ),
      ).flat();
    }
    return value;
  };
  // A page for people contains a list.
  if (name.endsWith('.html'))
    return text.replace(/\[\{.*\}\]/s, (list) => JSON.stringify(repeat(JSON.parse(list))));
  const top: unknown = JSON.parse(text);
  const whole = Array.isArray(top)
    ? repeat(top)
    : Object.fromEntries(Object.entries(top as Holder).map(([key, value]) => [key, repeat(value)]));
  return JSON.stringify(whole);
}

/** How many lists of objects a document has: its entries are shared out among them. */
function listsOf({ name, bytes }: Fixture): number {
  if (!name.endsWith('.json')) return 1;
  const top: unknown = JSON.parse(bytes.toString('utf8'));
  const lists = Array.isArray(top)
    ? [top]
    : Object.values(top as Holder).filter((value) => Array.isArray(value));
  return Math.max(1, lists.length);
}

function ownIds(item: object, index: number): Holder {
  const ids = Object.entries(item).filter(([name]) => ['id', '_id', 'arn', 'key', 'url'].includes(name));
  return Object.fromEntries(ids.map(([name, value]) => [name, `${String(value)}-${index}`]));
}

t.test('every kind has a fixture, and reads its own', async (t) => {
  for (const { kind } of readers)
    t.ok(
      fixtures.some(({ name }) => name.startsWith(kind)),
      kind,
    );
  for (const fixture of fixtures) {
    const readings = fixture.readers.map((reader) => tryReader(reader, fixture.bytes));
    t.ok(
      readings.some((reading) => reading !== null),
      fixture.name,
    );
  }
});

t.test('no kind stumbles over the documents of another', async () => {
  for (const reader of readers) for (const { bytes } of fixtures) tryReader(reader, bytes);
});

t.test('any bytes are read or refused', async () => {
  for (const reader of readers)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void tryReader(reader, bytes)),
      { numRuns: propertyRuns(10) },
    );
});

t.test('any JSON is read or refused', async () => {
  for (const reader of readers)
    fc.assert(
      fc.property(fc.json(), (json) => void tryReader(reader, json)),
      { numRuns: propertyRuns(10) },
    );
});

t.test('a fixture with other values in it is read or refused', async () => {
  for (const { bytes, readers } of fixtures.filter(({ name }) => name.endsWith('.json')))
    for (const reader of readers)
      fc.assert(
        fc.property(mutateJson(bytes.toString('utf8')), (json) => void tryReader(reader, json)),
        { numRuns: propertyRuns(6) },
      );
});

t.test('a fixture with other bytes in it is read or refused', async () => {
  for (const { bytes, readers } of fixtures)
    for (const reader of readers)
      fc.assert(
        fc.property(mutateBytes(bytes), (body) => void tryReader(reader, body)),
        { numRuns: propertyRuns(5) },
      );
});

t.test('thousands of entries are read soon, and bounded', async (t) => {
  for (const reader of readers) {
    // The first one of each reader: the makers of RSS differ in shape, not in number.
    const fixture = fixtures.find(({ readers }) => readers.includes(reader));
    const reading =
      fixture === undefined ? null : tryReader(reader, multiply(fixture, ENTRIES / listsOf(fixture)));
    t.ok(reading !== null, `${fixture?.name} ${reading?.entries.length}`);
  }
});

t.test('2 MiB of nesting end soon', async () => {
  const units = [
    '[',
    '{"a":',
    '<a>',
    '<rss><channel><item>',
    '<feed><entry><content>',
    '<![CDATA[',
    '<!--',
    '&amp;',
    '"',
    '\\',
  ];
  const all = [...units, '<a b="', '<a ', '<a/>', '<?a ', '<!DOCTYPE ', '[[],', '\n', '\0', '\ufeff'];
  const [json, xml] = [false, true].map((isXml) =>
    readers.filter(({ kind }) => XML_KINDS.has(kind) === isXml),
  );
  for (const [index, unit] of all.entries()) {
    const document = unit.repeat(Math.floor((2 * MIB) / Buffer.byteLength(unit)));
    // Those of one format share their parser: of each format one reader, another one for each unit.
    for (const format of [json, xml]) {
      const reader = format?.[index % format.length];
      if (reader !== undefined) tryReader(reader, document);
    }
  }
});

t.test('a text of 256 KiB in an entry ends soon', async () => {
  const units = [
    '<b>',
    '</p>',
    '<!--',
    '&lt',
    '\n',
    '[a](',
    '* ',
    '<p>Sep 20, 10:00 UTC<br>Resolved - x</p>',
    'Affected components\n',
  ];
  for (const [turn, { name, bytes, readers }] of fixtures.entries()) {
    const text = bytes.toString('utf8');
    for (const [index, unit] of units.entries()) {
      // Each unit in every ninth fixture, each time in another of its texts.
      if ((index + turn) % units.length !== 0) continue;
      const nasty = unit.repeat(Math.floor(MIB / 4 / unit.length));
      const places = name.endsWith('.xml')
        ? text.match(/<(title|description|content|summary)\b[^>]*>/g)
        : text.match(/"(name|title|body|text|message|contents|external_desc|summary|details)"\s*:\s*"/g);
      const place = places?.[index % places.length];
      if (place === undefined) continue;
      const inside = name.endsWith('.xml')
        ? nasty.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
        : JSON.stringify(nasty).slice(1, -1);
      const document = text.replace(place, () => place + inside);
      for (const reader of readers) tryReader(reader, document);
    }
  }
});
