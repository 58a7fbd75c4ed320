import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { type Feed, writeAtom, writeJsonFeed } from '../../src/api/feed-documents.ts';
import { readXmlItems } from '../../src/feeds/xml-items.ts';
import { anyText } from '../support/any-text.ts';
import { hasProgram } from '../support/install-servers.ts';
import { propertyRuns } from '../support/property-runs.ts';

const SCHEMA = fileURLToPath(new URL('atom.rng', import.meta.url));
const skip = hasProgram('xmllint') ? false : 'xmllint is not installed: apt-get install libxml2-utils';

const FEED: Feed = {
  id: 'tag:status.example.com,2026:incidents',
  title: 'Incidents & maintenances',
  selfUrl: 'https://status.example.com/incidents.atom?a=1&b=2',
  pageUrl: 'https://status.example.com/',
  updatedAt: Date.UTC(2026, 8, 20, 12),
  entries: [
    {
      id: 'tag:status.example.com,2026:incident/own-1-2',
      title: 'API <v2> is "down"',
      url: 'https://status.example.com/status/example-com',
      publishedAt: Date.UTC(2026, 8, 20, 10),
      updatedAt: Date.UTC(2026, 8, 20, 11, 30, 0, 5),
      text: 'First line.\nSecond line: ]]> & <b>.',
      category: 'resolved',
    },
  ],
};

/** What the schema says of a document; empty: it is valid. */
function judge(xml: string): string {
  const { status, stderr } = spawnSync('xmllint', ['--nonet', '--noout', '--relaxng', SCHEMA, '-'], {
    input: xml,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stderr;
}

t.test('it writes a feed', async (t) => {
  t.equal(
    writeAtom(FEED),
    `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>tag:status.example.com,2026:incidents</id>
<title>Incidents &amp; maintenances</title>
<link rel="self" type="application/atom+xml" href="https://status.example.com/incidents.atom?a=1&amp;b=2"/>
<link rel="alternate" type="text/html" href="https://status.example.com/"/>
<updated>2026-09-20T12:00:00.000Z</updated>
<author><name>Incidents &amp; maintenances</name></author>
<entry>
<id>tag:status.example.com,2026:incident/own-1-2</id>
<title>API &lt;v2&gt; is &quot;down&quot;</title>
<link rel="alternate" type="text/html" href="https://status.example.com/status/example-com"/>
<published>2026-09-20T10:00:00.000Z</published>
<updated>2026-09-20T11:30:00.005Z</updated>
<category term="resolved"/>
<content type="text">First line.
Second line: ]]&gt; &amp; &lt;b&gt;.</content>
</entry>
</feed>
`,
  );
});

t.test('what it writes is valid by the schema of RFC 4287', { skip }, async (t) => {
  const [entry] = FEED.entries;
  t.equal(judge(writeAtom(FEED)), '');
  t.equal(judge(writeAtom({ ...FEED, entries: [] })), '', 'without entries');
  if (entry === undefined) throw new Error('the feed has an entry');
  const { category, ...plain } = entry;
  t.equal(
    judge(writeAtom({ ...FEED, entries: [plain, { ...plain, text: '', title: '' }] })),
    '',
    'bare entries',
  );
  const hostile = '\0\x07\ud800\ufffe]]><!--\r\n</feed>&nbsp;\u202e😀';
  t.equal(
    judge(writeAtom({ ...FEED, title: hostile, entries: [{ ...entry, title: hostile, text: hostile }] })),
    '',
  );
  const samples = fc.sample(anyText({ maxLength: 50 }), { numRuns: 200, seed: 1 });
  const many = samples.map((text, index) => ({ ...plain, id: `tag:x,2026:${index}`, title: text, text }));
  t.equal(judge(writeAtom({ ...FEED, entries: many })), '', 'any text');
});

t.test('the schema finds what is wrong', { skip }, async (t) => {
  const xml = writeAtom(FEED);
  for (const [name, broken] of [
    ['no id', xml.replace(/<id>.*<\/id>/, '')],
    ['two titles', xml.replace('<updated>', '<title>x</title><updated>')],
    ['a time that is none', xml.replace('2026-09-20T12:00:00.000Z', 'Sunday')],
    ['a link without address', xml.replace(/ href="[^"]*"/, '')],
    ['an unknown element', xml.replace('<entry>', '<entry><guid>x</guid>')],
    ['an unknown type', xml.replace('type="text"', 'type="plain"')],
    ['a person without a name', xml.replace(/<name>.*<\/name>/, '')],
    ['an element after the entries', xml.replace('</feed>', '<subtitle>x</subtitle></feed>')],
  ] as const) {
    t.not(broken, xml, name);
    t.not(judge(broken), '', name);
  }
});

t.test('a reader gets back what was written', async () => {
  const text = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((value) => value.trim() === value && value !== '');
  fc.assert(
    fc.property(text, text, (title, content) => {
      const [entry] = FEED.entries;
      const xml = writeAtom({
        ...FEED,
        entries: entry === undefined ? [] : [{ ...entry, title, text: content }],
      });
      const [item] = readXmlItems(Buffer.from(xml)).items;
      const asHtml = (value: string) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      return item?.title === asHtml(title) && item.content === asHtml(content);
    }),
  );
});

t.test('it writes a JSON Feed 1.1', async (t) => {
  t.strictSame(JSON.parse(writeJsonFeed(FEED)), {
    version: 'https://jsonfeed.org/version/1.1',
    title: 'Incidents & maintenances',
    home_page_url: 'https://status.example.com/',
    feed_url: 'https://status.example.com/incidents.atom?a=1&b=2',
    authors: [{ name: 'Incidents & maintenances' }],
    items: [
      {
        id: 'tag:status.example.com,2026:incident/own-1-2',
        url: 'https://status.example.com/status/example-com',
        title: 'API <v2> is "down"',
        content_text: 'First line.\nSecond line: ]]> & <b>.',
        date_published: '2026-09-20T10:00:00.000Z',
        date_modified: '2026-09-20T11:30:00.005Z',
        tags: ['resolved'],
      },
    ],
  });
});

t.test('a JSON Feed has only characters of UTF-8', async () => {
  fc.assert(
    fc.property(fc.oneof(anyText(), fc.constant('\ud800a\udfff')), (title) => {
      const text = writeJsonFeed({ ...FEED, title });
      return text.isWellFormed() && JSON.parse(text).title === title.toWellFormed();
    }),
    { numRuns: propertyRuns(50) },
  );
});
