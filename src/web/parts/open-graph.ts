/** Link previews on other sites: Open Graph (ogp.me) and the cards that use it. Pure. */

/** A `meta` element: `<meta property="…" content="…">`, or with `name` in the place of `property`. Not yet escaped. */
export type MetaTag = ReturnType<typeof property | typeof name>;

export interface LinkedPage {
  readonly title: string;
  /** One or two sentences of plain text. */
  readonly description: string;
  /** Path from the root of the site, with its slash. */
  readonly path: string;
  /** The picture of the preview; null: there is none. */
  readonly image: {
    readonly path: string;
    /** Its media type; absent: PNG. */
    readonly type?: string;
    /** Size in pixels; absent: not known. */
    readonly size?: { readonly width: number; readonly height: number };
    readonly alt: string;
    /** True if the picture is a logo, which is shown small beside the text. */
    readonly isLogo?: boolean;
  } | null;
}

/** Maximum length of a title, characters. A longer one is cut between words, if possible, and ends with an ellipsis. */
const MAX_TITLE_LENGTH = 90;
const DESCRIPTION_MAX = 200;

/** The card of a service's page: its chart of the last day. `page` is its name in addresses. */
export function chartCard(page: string, alt: string): LinkedPage['image'] {
  return { path: `/api/chart/${page}.png?size=card`, size: { width: 1_200, height: 630 }, alt };
}

/** The tags of a page. `siteUrl` has no slash at its end. Contents are plain text, which the template must escape. */
export function openGraphTags(siteUrl: string, { title, description, path, image }: LinkedPage): MetaTag[] {
  const shortTitle = shorten(title, MAX_TITLE_LENGTH);
  const shortDescription = shorten(description, DESCRIPTION_MAX);
  return [
    name('description', shortDescription),
    property('og:site_name', 'Upbeat'),
    property('og:type', 'website'),
    property('og:title', shortTitle),
    property('og:description', shortDescription),
    property('og:url', siteUrl + path),
    ...(image === null ? [name('twitter:card', 'summary')] : pictureTags(siteUrl, image)),
  ];
}

const property = (key: string, content: string) => ({ attribute: 'property', key, content }) as const;
const name = (key: string, content: string) => ({ attribute: 'name', key, content }) as const;

function pictureTags(siteUrl: string, image: NonNullable<LinkedPage['image']>): MetaTag[] {
  const { path, size, alt, type = 'image/png', isLogo = false } = image;
  return [
    property('og:image', siteUrl + path),
    property('og:image:type', type),
    ...(size === undefined
      ? []
      : [property('og:image:width', String(size.width)), property('og:image:height', String(size.height))]),
    property('og:image:alt', shorten(alt, DESCRIPTION_MAX)),
    name('twitter:card', isLogo ? 'summary' : 'summary_large_image'),
  ];
}

/** The text on one line of at most `most` characters, without characters that change its direction or hide text. */
function shorten(text: string, most: number): string {
  const line = text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    // Joiners are kept, because emoji and several scripts need them.
    .replace(/[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
    .trim();
  const letters = [...line];
  if (letters.length <= most) return line;
  const cut = letters.slice(0, most - 1).join('');
  const space = cut.lastIndexOf(' ');
  return `${(space > most / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
