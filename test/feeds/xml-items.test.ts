import t from 'tap';
import { FeedFormatError } from '../../src/feeds/feed-kind.ts';
import { readXmlItems, type XmlItem } from '../../src/feeds/xml-items.ts';

const EMPTY: XmlItem = {
  title: '',
  id: '',
  link: '',
  published: '',
  updated: '',
  content: '',
  description: '',
  status: '',
  categories: [],
};

function read(document: string | Uint8Array) {
  return readXmlItems(typeof document === 'string' ? Buffer.from(document) : document);
}

function rss(item: string, attributes = ''): string {
  return `<rss version="2.0" ${attributes}><channel><link>https://example.com/</link><item>${item}</item></channel></rss>`;
}

t.test('it reads the items of each format', async (t) => {
  t.same(
    read(
      rss(
        '<title>A &amp; B</title><guid isPermaLink="false">g</guid><link>https://example.com/1</link><pubDate>now</pubDate>' +
          '<description>&lt;p&gt;x&lt;/p&gt;</description><category>Maintenance</category><category/>',
      ),
    ),
    {
      format: 'rss',
      link: 'https://example.com/',
      items: [
        {
          ...EMPTY,
          title: 'A & B',
          id: 'g',
          link: 'https://example.com/1',
          published: 'now',
          content: '<p>x</p>',
          description: '<p>x</p>',
          categories: ['Maintenance'],
        },
      ],
    },
    'RSS 2.0',
  );
  t.same(
    read(
      '<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="https://s"/><link href="https://a"/><entry>' +
        '<id>i</id><title type="html">T</title><published>p</published><updated>u</updated><author><name>n</name></author>' +
        '<link rel="edit" href="no"/><link rel="alternate" href="/1"/><category term="c"/><summary>s</summary>' +
        '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml" class="a">1 &lt; 2<b>!</b></div></content></entry></feed>',
    ),
    {
      format: 'atom',
      link: 'https://a',
      items: [
        {
          title: 'T',
          id: 'i',
          link: '/1',
          published: 'p',
          updated: 'u',
          content: '<div>1 &lt; 2<b>!</b></div>',
          description: 's',
          status: '',
          categories: ['c'],
        },
      ],
    },
    'Atom',
  );
  t.same(
    read(
      '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:d="http://purl.org/dc/elements/1.1/">' +
        '<channel><link>l</link></channel><item><title>t</title><d:date>2026</d:date></item></r:RDF>',
    ),
    { format: 'rss', link: 'l', items: [{ ...EMPTY, title: 't', published: '2026' }] },
    'RSS 1.0, with prefixes of its own',
  );
});

t.test('plain texts of Atom become HTML, as all others are', async (t) => {
  const read1 = (fields: string) =>
    read(`<feed xmlns="http://www.w3.org/2005/Atom"><entry>${fields}</entry></feed>`).items[0];
  t.match(read1('<title>a &lt;b&gt; &amp;amp;</title><content>&lt;p&gt;</content>'), {
    title: 'a &lt;b> &amp;amp;',
    content: '<p>',
  });
  t.match(read1('<title type="html">&lt;b&gt;</title><content type="text">&lt;p&gt;</content>'), {
    title: '<b>',
    content: '&lt;p>',
  });
});

t.test('elements of other namespaces are none of ours', async (t) => {
  const [item] = read(
    rss(
      '<media:title>no</media:title><title>yes</title><media:content>no</media:content><x:encoded>full</x:encoded>' +
        '<description>short</description><a10:updated>u</a10:updated><itunes:title>no</itunes:title>',
      'xmlns:media="http://search.yahoo.com/mrss/" xmlns:x="http://purl.org/rss/1.0/modules/content/" xmlns:a10="http://www.w3.org/2005/Atom"',
    ),
  ).items;
  t.same(item, { ...EMPTY, title: 'yes', content: 'full', description: 'short', updated: 'u' });
  t.same(
    read('<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:id>1</a:id></a:entry></a:feed>').items,
    [{ ...EMPTY, id: '1' }],
  );
});

t.test('it reads the encodings of feeds', async (t) => {
  const title = 'Störung – é';
  const document = (encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?>${rss(`<title>${title}</title>`)}`;
  const big = Buffer.from(document('utf-16'), 'utf16le').swap16();
  const latin = (encoding: string) => Buffer.from(document(encoding).replace('–', '\x96'), 'latin1');
  for (const [name, bytes] of [
    ['UTF-8', Buffer.from(document('UTF-8'))],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${document('utf-8')}`)],
    ['a mark beats the declaration', Buffer.from(`\ufeff${document('iso-8859-1')}`)],
    ['UTF-16 LE with a mark', Buffer.from(`\ufeff${document('UTF-16')}`, 'utf16le')],
    ['UTF-16 LE without a mark', Buffer.from(document('UTF-16'), 'utf16le')],
    ['UTF-16 BE with a mark', Buffer.concat([Buffer.from([0xfe, 0xff]), big])],
    ['UTF-16 BE without a mark', big],
    ['UTF-8 that claims to be UTF-16', Buffer.from(document('utf-16'))],
    ['windows-1252', latin('Windows-1252')],
    ['ISO 8859-1, read as browsers do', latin('ISO-8859-1')],
  ] as const)
    t.equal(read(bytes).items[0]?.title, title, name);
  for (const [encoding, bytes, text] of [
    ['gb2312', [0xd2, 0xd1, 0xbb, 0xd6, 0xb8, 0xb4], '已恢复'],
    ['shift_jis', [0x95, 0x9c, 0x8b, 0x8c], '復旧'],
    ['windows-1251', [0xd1, 0xe1, 0xee, 0xe9], 'Сбой'],
  ] as const) {
    const [head, tail] = `<?xml version="1.0" encoding="${encoding}"?>${rss('<title>|</title>')}`.split('|');
    const body = Buffer.concat([Buffer.from(head ?? ''), Buffer.from(bytes), Buffer.from(tail ?? '')]);
    t.match(readXmlItems(body).items, [{ title: text }], encoding);
  }
  t.throws(() => read(document('utf-7')), { code: 'feed_format', message: /encoding/ });
  t.equal(
    read(Buffer.from([...Buffer.from('<rss><item><title>a'), 0xff, ...Buffer.from('b</title></item></rss>')]))
      .items[0]?.title,
    'a\ufffdb',
  );
});

t.test('it refuses what is no feed, or not a whole one', async (t) => {
  for (const [document, message] of [
    ['', /empty/],
    [' \n ', /empty/],
    ['<!doctype html><html><head><title>Status</title></head><body></body></html>', /page for people/],
    ['<html lang="en"></html>', /page for people/],
    ['{"page":{"name":"x"}}', /no element/],
    ['Not found', /no element/],
    ['<opml version="1.0"></opml>', /no RSS and no Atom/],
    ['<x:rss xmlns:x="http://example.com/"></x:rss>', /no RSS and no Atom/],
    ['<rss><channel><item><title>x</title></item>', /ends before its end/],
    ['<feed><entry><title>x</ti', /ends before its end/],
    ['<!DOCTYPE rss [<!ENTITY a "b">]><rss></rss>', /entities/],
    ['<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss><title>&a;</title></rss>', /entities/],
    ['<!ENTITY % a "b"><rss></rss>', /entities/],
    [`<rss>${'<a>'.repeat(200)}${'</a>'.repeat(200)}</rss>`, /nests/],
  ] as const)
    t.throws(() => read(document), { name: FeedFormatError.name, message }, document.slice(0, 60));
});

t.test('it knows no entities but those of XML, and numbers', async (t) => {
  const [item] = read(
    `<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://example.com/rss.dtd">${rss('<title>&a;&nbsp;&lt;&#60;&#x3c;&quot;&#x110000;&#0;</title>')}`,
  ).items;
  t.equal(item?.title, '&a;&nbsp;<<<"\ufffd\ufffd');
});

t.test('it mends what can be mended', async (t) => {
  t.equal(
    read(rss('<description>a <b>bold</b> &amp; b<br>c</description>')).items[0]?.content,
    'a <b>bold</b> & b<br>c</br>',
  );
  t.equal(read(rss('<title><![CDATA[<b>x</b>]]> y</title>')).items[0]?.title, '<b>x</b> y');
  t.same(read('<rss><channel></channel></rss>').items, []);
  t.same(read('<rss/>').items, []);
  t.same(
    read(rss('<title __proto__="x">q</title><__proto__>x</__proto__><constructor>y</constructor>')).items,
    [{ ...EMPTY, title: 'q' }],
  );
});

t.test('it bounds what it takes', async (t) => {
  const long = 'x'.repeat(300_000);
  const [item] = read(
    rss(`<title>${long}</title><guid>${long}</guid><description>${long}</description>`),
  ).items;
  t.same([item?.title.length, item?.id.length, item?.content.length], [2_000, 4_000, 200_000]);
  t.equal(read(rss('<category>c</category>'.repeat(99))).items[0]?.categories.length, 50);
  t.equal(read(`<rss>${'<item/>'.repeat(30_000)}</rss>`).items.length, 20_000);
});
