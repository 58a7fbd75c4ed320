/**
 * Parses RSS 0.91 to 2.0 and Atom into plain items. Hardened against hostile documents: no DTD, no entities except XML's
 * own five and numeric ones, limits on depth, items and sizes, and linear time.
 */
import { Parser } from 'htmlparser2';
import { decodeXml, FeedFormatError } from './feed-kind.ts';

/** An item of an RSS feed or an entry of an Atom feed, as written. A missing member is empty. */
export interface XmlItem {
  /** HTML or plain text, at most 2,000 characters. */
  readonly title: string;
  /** `guid` or `id`. */
  readonly id: string;
  /** May be relative, and may not be a link at all. */
  readonly link: string;
  /** The time of publication. */
  readonly published: string;
  /** The time of the last change. */
  readonly updated: string;
  /** The longest text, HTML or plain, at most 200,000 characters. */
  readonly content: string;
  /** `description` or `summary`, which may contain more than `content`. */
  readonly description: string;
  /** `status`, an element of Microsoft's pages. */
  readonly status: string;
  readonly categories: readonly string[];
}

export interface XmlFeed {
  readonly format: 'rss' | 'atom';
  /** The page of the feed. */
  readonly link: string;
  /** In the order of the document. */
  readonly items: readonly XmlItem[];
}

const MAX_DEPTH = 100;
/** More than are used, since the newest may not come first. */
const MAX_ITEMS = 20_000;
const MAX_CATEGORIES = 50;

/** The namespaces whose elements are read, and the prefix of their names below. */
const NAMESPACES: ReadonlyMap<string, string> = new Map([
  ['http://www.w3.org/2005/Atom', ''],
  ['http://purl.org/atom/ns#', ''],
  ['http://purl.org/rss/1.0/', ''],
  ['http://my.netscape.com/rdf/simple/0.9/', ''],
  ['http://www.w3.org/1999/02/22-rdf-syntax-ns#', 'rdf:'],
  ['http://purl.org/rss/1.0/modules/content/', 'content:'],
  ['http://purl.org/dc/elements/1.1/', 'dc:'],
  ['http://purl.org/dc/terms/', 'dcterms:'],
]);

const ROOTS: Readonly<Record<string, XmlFeed['format']>> = { rss: 'rss', 'rdf:RDF': 'rss', feed: 'atom' };
const CONTAINERS = new Set(['item', 'entry']);

/** The field of an item that an element sets. If several elements set one field, the one with the highest rank counts. */
const FIELDS: Readonly<Record<string, readonly [field: FieldName, rank: number]>> = {
  title: ['title', 1],
  guid: ['id', 2],
  id: ['id', 1],
  link: ['link', 1],
  pubDate: ['published', 3],
  published: ['published', 3],
  issued: ['published', 2],
  'dc:date': ['published', 1],
  updated: ['updated', 3],
  modified: ['updated', 2],
  'dcterms:modified': ['updated', 1],
  'content:encoded': ['content', 2],
  content: ['content', 1],
  description: ['description', 2],
  summary: ['description', 1],
  status: ['status', 1],
  category: ['category', 1],
};

/** Maximum number of characters by field. */
const FIELD_BOUNDS = {
  title: 2_000,
  id: 4_000,
  link: 4_000,
  published: 100,
  updated: 100,
  content: 200_000,
  description: 200_000,
  status: 100,
  category: 300,
} as const;

type FieldName = keyof typeof FIELD_BOUNDS;

interface Draft {
  readonly values: Map<FieldName, { readonly rank: number; readonly text: string }>;
  readonly categories: string[];
}

/** The element whose text is being collected. */
interface Capture {
  readonly field: FieldName;
  readonly rank: number;
  readonly depth: number;
  readonly bound: number;
  /** The value of `href` or `term`. */
  readonly attribute: string;
  /** Its text is not HTML and must be escaped. */
  readonly isPlain: boolean;
  text: string;
}

/**
 * Parses a document. Throws {@link FeedFormatError} if it is neither RSS nor Atom, defines entities, nests more than 100
 * deep, or is truncated, since a missing item means that its incident has ended.
 */
export function readXmlItems(body: Uint8Array): XmlFeed {
  const text = decodeXml(body);
  if (text.trim() === '') throw new FeedFormatError('the document is empty');
  const reading = new FeedReader();
  // Without `end`, which would close the elements of a truncated document.
  new Parser(reading, { xmlMode: true }).write(text);
  return reading.feed();
}

class FeedReader {
  readonly #items: XmlItem[] = [];
  /** Declared prefixes; the last declaration of a prefix counts. */
  readonly #prefixes = new Map<string, string>([
    ['content', 'content:'],
    ['dc', 'dc:'],
    ['dcterms', 'dcterms:'],
    ['rdf', 'rdf:'],
    ['atom', ''],
  ]);
  #parser: Parser | null = null;
  #format: XmlFeed['format'] | null = null;
  #depth = 0;
  #link = '';
  #item: { readonly depth: number; readonly draft: Draft } | null = null;
  #capture: Capture | null = null;
  #isWhole = false;

  feed(): XmlFeed {
    if (this.#format === null) throw new FeedFormatError('the document has no element');
    if (!this.#isWhole) throw new FeedFormatError('the document ends before its end');
    return { format: this.#format, link: this.#link, items: this.#items };
  }

  onparserinit(parser: Parser): void {
    this.#parser = parser;
  }

  onprocessinginstruction(name: string, data: string): void {
    if (/^!ENTITY/i.test(name) || (/^!DOCTYPE/i.test(name) && /[[]|<!/.test(data)))
      throw new FeedFormatError('the document defines entities');
  }

  onopentag(qualified: string, attributes: Readonly<Record<string, string>>): void {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new FeedFormatError(`the document nests more than ${MAX_DEPTH} deep`);
    if (this.#capture !== null) {
      // XHTML in Atom, and unescaped HTML: kept as markup, which the readers of texts remove.
      this.#add(`<${qualified}>`);
      return;
    }
    this.#declare(attributes);
    const name = this.#resolve(qualified);
    if (this.#depth === 1) this.#format = rootFormat(name, qualified);
    else if (this.#item === null && CONTAINERS.has(name)) this.#beginItem();
    else if (name === 'link' && this.#item === null && this.#depth <= 3) this.#beginField(name, attributes);
    else if (this.#item !== null && this.#depth === this.#item.depth + 1) this.#beginField(name, attributes);
  }

  ontext(data: string): void {
    if (this.#capture === null) return;
    const escaped = this.#capture.isPlain || this.#depth > this.#capture.depth;
    this.#add(escaped ? data.replaceAll('&', '&amp;').replaceAll('<', '&lt;') : data);
  }

  onclosetag(qualified: string): void {
    const capture = this.#capture;
    if (capture !== null && this.#depth > capture.depth) this.#add(`</${qualified}>`);
    else if (capture !== null) this.#endField(capture);
    if (this.#item?.depth === this.#depth) this.#endItem(this.#item.draft);
    this.#depth -= 1;
    if (this.#depth === 0) this.#end();
  }

  #end(): void {
    this.#isWhole = true;
    // Nothing after the root is part of the document.
    this.#parser?.pause();
  }

  #beginItem(): void {
    this.#item = { depth: this.#depth, draft: { values: new Map(), categories: [] } };
  }

  #beginField(name: string, attributes: Readonly<Record<string, string>>): void {
    const [field, rank] = Object.hasOwn(FIELDS, name) ? (FIELDS[name] ?? []) : [];
    if (field === undefined || rank === undefined) return;
    if (field === 'link' && !isAlternate(attributes)) return;
    this.#capture = {
      field,
      rank,
      depth: this.#depth,
      bound: FIELD_BOUNDS[field],
      attribute:
        field === 'link' || field === 'category'
          ? attributeOf(attributes, field === 'link' ? 'href' : 'term')
          : '',
      isPlain: this.#format === 'atom' && isPlain(field, attributeOf(attributes, 'type')),
      text: '',
    };
  }

  #add(text: string): void {
    const capture = this.#capture;
    if (capture !== null && capture.text.length < capture.bound)
      capture.text += text.slice(0, capture.bound - capture.text.length);
  }

  #endField({ field, rank, bound, attribute, text }: Capture): void {
    this.#capture = null;
    const found = text.trim() || attribute.slice(0, bound).trim();
    if (found === '') return;
    if (this.#item === null) {
      this.#link ||= found;
      return;
    }
    const { values, categories } = this.#item.draft;
    if (field === 'category') {
      if (categories.length < MAX_CATEGORIES) categories.push(found);
    } else if (rank > (values.get(field)?.rank ?? 0)) values.set(field, { rank, text: found });
  }

  #endItem({ values, categories }: Draft): void {
    this.#item = null;
    const field = (name: FieldName) => values.get(name)?.text ?? '';
    this.#items.push({
      title: field('title'),
      id: field('id'),
      link: field('link'),
      published: field('published'),
      updated: field('updated'),
      content: field('content') || field('description'),
      description: field('description'),
      status: field('status'),
      categories,
    });
    if (this.#items.length >= MAX_ITEMS) this.#end();
  }

  #declare(attributes: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(attributes)) {
      if (!name.startsWith('xmlns:') || this.#prefixes.size > 100) continue;
      this.#prefixes.set(name.slice(6), NAMESPACES.get(value) ?? `${name.slice(6)}?`);
    }
  }

  /** The name with the prefix of {@link NAMESPACES}; elements of other namespaces match no name. */
  #resolve(qualified: string): string {
    const colon = qualified.indexOf(':');
    if (colon === -1) return qualified;
    const prefix = this.#prefixes.get(qualified.slice(0, colon)) ?? '?';
    return prefix + qualified.slice(colon + 1);
  }
}

function rootFormat(name: string, qualified: string): XmlFeed['format'] {
  const format = Object.hasOwn(ROOTS, name) ? ROOTS[name] : undefined;
  if (format !== undefined) return format;
  const isPage = /^html$/i.test(qualified);
  throw new FeedFormatError(
    isPage ? 'the document is a page for people' : 'the document is no RSS and no Atom',
  );
}

/** Links with other relations lead to the feed itself, to files or to comments. */
function isAlternate(attributes: Readonly<Record<string, string>>): boolean {
  return ['', 'alternate'].includes(attributeOf(attributes, 'rel').toLowerCase());
}

/** Atom's texts are plain by default (RFC 4287, 3.1.1), but some vendors forget the type of HTML contents. */
function isPlain(field: FieldName, type: string): boolean {
  const isText = field === 'title' || field === 'content' || field === 'description';
  return type === 'text' ? isText : field === 'title' && type === '';
}

function attributeOf(attributes: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(attributes, name) ? (attributes[name] ?? '') : '';
}
