/** Logos of services of the catalogue and of channels: small pictures, which a page loads as they come into view. */
import { readFileSync } from 'node:fs';
import type { Service } from '../../domain/service.ts';
import { entityTag } from '../../http/conditional.ts';
import { HttpError } from '../../http/problem.ts';
import type { Route } from '../../http/route.ts';

export type Logos = ReturnType<typeof createLogos>;

/** The pictures by the slug of their service, written by `npm run logos`. */
const FILE = new URL('../../../assets/web/logos.tsv', import.meta.url);
const HEADERS = { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=31536000, immutable' };
/** Number of colours of tiles with an initial (assets/web/home.css). */
const TILE_COLOURS = 6;

/** The logos, which are read for the first page: 0.7 MB. Browsers may cache them for a year, because their paths contain a hash of all of them. */
export function createLogos() {
  let known: ReturnType<typeof readLogos> | undefined;
  const logos = () => (known ??= readLogos());
  const route: Route = {
    path: '/logos/:version/:slug',
    // A page may show a thousand of them, each from memory and once a year for a browser.
    bucket: 'none',
    access: 'everyone',
    handle({ params }) {
      const body = logos().pictures.get(params.slug ?? '');
      if (body === undefined || body === '') throw new HttpError('route_not_found', 'There is no such logo.');
      return { status: 200, headers: HEADERS, body };
    },
  };
  const pathOfName = (name: string) => {
    const { pictures, version } = logos();
    return pictures.has(name) ? `/logos/${version}/${name}` : null;
  };
  return {
    /** The path of the logo of a service; null: it has none. Services of owners never have one. */
    pathOf: ({ slug, accountId }: Pick<Service, 'slug' | 'accountId'>): string | null =>
      accountId === null ? pathOfName(slug) : null,
    /** The path of the logo of a kind of channel; null: it has none. */
    pathOfName,
    route,
  };
}

function readLogos() {
  const text = readFileSync(FILE, 'utf8');
  const pictures = new Map(
    text.split('\n').map((line) => {
      const end = line.indexOf('\t');
      return [line.slice(0, end), line.slice(end + 1)] as const;
    }),
  );
  return { pictures, version: entityTag(text).slice(1, 9) };
}

/** The tile of a service without a logo: the first letter or digit of its name, and a colour's number. */
export function tileOf(name: string): { readonly initial: string; readonly colour: number } {
  const initial = /[\p{L}\p{N}]/u.exec(name)?.[0] ?? '?';
  return { initial: initial.toUpperCase(), colour: (initial.codePointAt(0) ?? 0) % TILE_COLOURS };
}

/** The mark of a service in a list: its logo, or a tile with its initial. */
export function markOf(service: Service, logos: Logos) {
  const logo = logos.pathOf(service);
  return { logo, tile: logo === null ? tileOf(service.name) : null };
}
