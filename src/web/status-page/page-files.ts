/** The files of an owner's page: its pictures and the style sheet of its colour. */
import type { PictureUse } from '../../domain/status-page.ts';
import type { HttpRequest, Route } from '../../http/route.ts';
import {
  findShownPage,
  keepPrivate,
  type PageViewSources,
  pageNotFound,
} from '../../view/status-page-view.ts';
import { brandStyle } from './brand-style.ts';

const YEAR_SECONDS = 31_536_000;

export function pictureRoute(sources: PageViewSources, use: PictureUse): Route {
  return {
    path: `/p/:slug/${use}`,
    bucket: 'pages',
    access: 'everyone',
    open: 'page',
    async handle(request) {
      const page = await findShownPage(request, sources);
      const picture = page === null ? null : await sources.pages.findPicture(page.slug, use);
      if (page === null || picture === null) throw pageNotFound(request.params.slug ?? '');
      const headers = { 'Content-Type': picture.type, 'Cache-Control': ageOf(request, picture.mark) };
      return keepPrivate(page, { status: 200, headers, body: picture.bytes, etag: `"${picture.mark}"` });
    },
  };
}

/** The route of the style sheet. */
export function brandRoute(sources: PageViewSources): Route {
  return {
    path: '/p/:slug/brand.css',
    bucket: 'pages',
    access: 'everyone',
    open: 'page',
    async handle(request) {
      const page = await findShownPage(request, sources);
      if (page?.colour === undefined) throw pageNotFound(request.params.slug ?? '');
      const age = ageOf(request, page.colour.slice(1));
      const headers = { 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': age };
      return keepPrivate(page, { status: 200, headers, body: brandStyle(page.colour) });
    },
  };
}

/** A URL with the mark identifies one version of a file and is cached; a URL without the mark is not. */
function ageOf({ query }: HttpRequest, mark: string): string {
  const isMarked = new URLSearchParams(query).get('v') === mark;
  return isMarked ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
}
