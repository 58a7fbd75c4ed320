/** Files at addresses that browsers, search engines and security researchers know. */
import { readFileSync } from 'node:fs';
import { DAY_MS } from '../domain/durations.ts';
import { basePathOf } from '../http/base-path.ts';
import { HttpError } from '../http/problem.ts';
import type { HttpResponse, Route } from '../http/route.ts';
import { escapeMarkup } from '../language/phrase.ts';
import type { SiteSources } from '../view/site-sources.ts';

interface WellKnownSources extends SiteSources {
  /** The contact for vulnerabilities: an `https:` or `mailto:` URL; null or absent: the operator names none. */
  readonly securityContact?: string | null;
  /** True if the site is for its members alone. Default false. */
  readonly isForMembers?: boolean;
}

/** Maximum number of addresses in one file of a sitemap (sitemaps.org). */
const MAX_ADDRESSES = 50_000;
/** Pages that every visitor can open, beside those of services. */
const PAGES = ['/', '/incidents', '/maintenance', '/heatmap', '/honesty', '/docs', '/badges', '/about'];
/** `security.txt` is valid for so long after its day; a reader must not trust an older one (RFC 9116, 2.5.5). */
const SECURITY_VALID_MS = 90 * DAY_MS;
const FOLDER = new URL('../../assets/web/', import.meta.url);

export function wellKnownFiles(sources: WellKnownSources): Route[] {
  return [
    ...[
      ['/favicon.ico', 'favicon.ico', 'image/x-icon'],
      ['/apple-touch-icon.png', 'icon-180.png', 'image/png'],
      ['/icon-512.png', 'icon-512.png', 'image/png'],
    ].map(([path = '', file = '', type = '']) => iconRoute(path, file, type)),
    ...[
      textRoute('/site.webmanifest', 'application/manifest+json', () =>
        JSON.stringify(manifest(basePathOf(sources.siteUrl))),
      ),
      textRoute('/robots.txt', 'text/plain', () => robots(sources)),
      textRoute('/.well-known/security.txt', 'text/plain', () => securityText(sources)),
    ].map((route) => ({ ...route, open: true }) as const),
    textRoute('/sitemap.xml', 'application/xml', () => sitemapIndex(sources)),
    textRoute('/sitemaps/:part', 'application/xml', (part) => sitemapPart(sources, part)),
  ];
}

const manifest = (base: string) => ({
  name: 'Upbeat',
  short_name: 'Upbeat',
  start_url: `${base}/`,
  display: 'minimal-ui',
  background_color: '#ffffff',
  theme_color: '#1a8f46',
  icons: [
    { src: `${base}/icon-512.png`, sizes: '512x512', type: 'image/png', purpose: 'any' },
    { src: `${base}/apple-touch-icon.png`, sizes: '180x180', type: 'image/png', purpose: 'any' },
  ],
});

function iconRoute(path: string, file: string, type: string): Route {
  const body = readFileSync(new URL(file, FOLDER));
  const headers = { 'Content-Type': type, 'Cache-Control': 'public, max-age=86400' };
  const handle = () => ({ status: 200, headers, body });
  return { path, bucket: 'pages', access: 'everyone', open: true, handle };
}

function textRoute(path: string, type: string, write: (part: string) => string): Route {
  const headers = { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': 'public, max-age=3600' };
  const handle = ({ params }: { readonly params: Readonly<Record<string, string>> }): HttpResponse => ({
    status: 200,
    headers,
    body: write(params.part ?? ''),
  });
  return { path, bucket: 'pages', access: 'everyone', handle };
}

/**
 * Search engines need neither the pages of owners nor the API, whose answers are data. Its pictures are those of link previews, whose
 * robots obey this file too; the longest path that matches wins (RFC 9309, 2.2.2).
 */
function robots({ siteUrl, isForMembers = false }: WellKnownSources): string {
  const base = basePathOf(siteUrl);
  if (isForMembers) return `User-agent: *\nDisallow: ${base}/\nAllow: ${base}/p/\n`;
  const closed = ['/dashboard', '/sign-in', '/setup', '/invitations', '/api/', '/events', '/search.json'];
  return [
    'User-agent: *',
    ...closed.map((path) => `Disallow: ${base}${path}`),
    ...['/api/badge/', '/api/chart/', '/api/heatmap.png'].map((path) => `Allow: ${base}${path}`),
    '',
    `Sitemap: ${siteUrl}/sitemap.xml`,
    '',
  ].join('\n');
}

/** RFC 9116. The end of its validity is the same for a whole day, so that the file keeps its tag. */
function securityText({ siteUrl, securityContact = null, now }: WellKnownSources): string {
  if (securityContact === null)
    throw new HttpError('route_not_found', 'The operator of this site names no contact for security.');
  const today = Math.floor(now() / DAY_MS) * DAY_MS;
  return [
    `Contact: ${securityContact}`,
    `Expires: ${new Date(today + SECURITY_VALID_MS).toISOString()}`,
    `Canonical: ${siteUrl}/.well-known/security.txt`,
    '',
  ].join('\n');
}

/** The list of files, each of which lists at most {@link MAX_ADDRESSES} pages. */
function sitemapIndex({ directory, siteUrl }: WellKnownSources): string {
  const parts = Math.max(1, Math.ceil(directory.all().length / MAX_ADDRESSES));
  const files = Array.from({ length: parts }, (_, part) => `/sitemaps/${part + 1}.xml`);
  return sitemap('sitemapindex', 'sitemap', siteUrl, files);
}

/**
 * The pages of a part of the services; the first part has the other pages too. Services that nobody has verified are left
 * out, as they are on the home page (decisions, Heartbeats).
 */
function sitemapPart({ directory, siteUrl }: WellKnownSources, name: string): string {
  const part = Number(/^([1-9]\d{0,5})\.xml$/.exec(name)?.[1] ?? 0);
  const first = (part - 1) * MAX_ADDRESSES;
  const services = directory.all();
  if (part === 0 || (part > 1 && first >= services.length))
    throw new HttpError('route_not_found', 'There is no such part of the sitemap.');
  const shown = services.slice(first, first + MAX_ADDRESSES).filter(({ verified }) => verified);
  const pages = shown.map((service) => `/status/${directory.pageName(service)}`);
  return sitemap('urlset', 'url', siteUrl, part === 1 ? [...PAGES, ...pages] : pages);
}

function sitemap(list: string, item: string, siteUrl: string, paths: readonly string[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<${list} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`,
    ...paths.map((path) => `<${item}><loc>${escapeMarkup(siteUrl + path)}</loc></${item}>`),
    `</${list}>`,
    '',
  ].join('\n');
}
