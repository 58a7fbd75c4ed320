/** `/badges` and `/badges/:slug`: choose a service and what its badge shows, preview it, and copy the snippet. */

import { BADGE_STYLES, PICTURE_THEMES, PICTURE_WINDOWS, type PictureTheme } from '../domain/picture.ts';
import { fullName, isOwn, type Service } from '../domain/service.ts';
import { readParameters } from '../http/parameters.ts';
import { type HttpRequest, type HttpResponse, pageRoute, type Route } from '../http/route.ts';
import { Type } from '../json-schema.ts';
import {
  BADGE_MEASURES,
  BADGE_SCALES,
  BADGE_VARIANTS,
  type BadgeAddresses,
  type BadgeRequest,
  DEFAULT_BADGE,
  MAX_LABEL_LENGTH,
  nameWithoutHost,
  readBadgeRequest,
} from '../view/badge-url.ts';
import { serviceNotFound } from '../view/service-directory.ts';
import type { ShownServices } from '../view/shown-services.ts';
import type { SiteSources } from '../view/site-sources.ts';
import type { Texts } from './language/english.ts';
import { chooseLanguage } from './language/language.ts';
import type { AssetAddresses } from './parts/assets.ts';
import { badgeQuery, badgeSnippets, badgeUrl } from './parts/badge-snippets.ts';
import { type RenderPage, renderMissing } from './parts/views.ts';

export type BadgeBuilderSources = SiteSources & {
  readonly badgeAddresses: BadgeAddresses | null;
};

const QUERY = { q: Type.String({ default: '', description: 'Part of a name or domain.' }) };
const MAX_MATCHES_SHOWN = 12;
/** Formats in the order of the form. The first is the default here, because it is sharp on every screen. */
const FORMATS = ['svg', 'png', 'shields'] as const;

export function badgeBuilder(
  render: RenderPage,
  sources: BadgeBuilderSources,
  assets: AssetAddresses,
): Route[] {
  const { finder } = sources;
  const show = async (request: HttpRequest, service: Service | null): Promise<HttpResponse> => {
    const shown = await finder.listedFor(request);
    const language = chooseLanguage(request);
    const texts = language.texts.badges;
    const asked = readBadgeRequest('', request.query, FORMATS[0]);
    return render('./badge-builder', {
      language,
      title: service === null ? texts.title : texts.titleOf(fullName(service)),
      script: assets.badgeBuilderScript,
      fields: fieldsOf(asked, texts),
      label: { text: asked.label, maxLength: MAX_LABEL_LENGTH },
      search: findServices(shown, request.query, asked),
      badge: service === null ? null : viewBadge(service, asked, sources, texts),
      examples: service === null ? viewExamples(shown, sources, texts) : [],
    });
  };
  return [
    { path: '/badges', bucket: 'pages', access: 'everyone', handle: (request) => show(request, null) },
    pageRoute({ path: '/badges/:slug' }, async (request) => {
      const name = request.params.slug ?? '';
      const service = await finder.byPageName(request, name);
      if (service !== null) return await show(request, service);
      const language = chooseLanguage(request);
      const message = language.texts.site.noService(name.slice(0, 100));
      return renderMissing(render, request, language, { error: serviceNotFound(name), message });
    }),
  ];
}

/** The fields of the form with their texts. A field that only some variants have is marked with these variants. */
function fieldsOf(asked: BadgeRequest, texts: Texts['badges']) {
  const field = <Word extends string>(
    name: keyof BadgeRequest,
    label: string,
    all: readonly Word[],
    texts: Readonly<Record<Word, string>>,
  ) => ({
    name,
    label,
    options: all.map((word) => ({ word, text: texts[word], chosen: asked[name] === word })),
  });
  return [
    field('variant', texts.variant, BADGE_VARIANTS, texts.variants),
    field('window', texts.window, PICTURE_WINDOWS, texts.windows),
    field('measure', texts.measure, BADGE_MEASURES, texts.measures),
    field('theme', texts.theme, PICTURE_THEMES, texts.themes),
    field('style', texts.style, BADGE_STYLES, texts.styles),
    field('format', texts.format, FORMATS, texts.formats),
  ];
}

/** Services whose name or domain contains the text; those that begin with it come first. */
function findServices(shown: ShownServices, query: string, asked: BadgeRequest) {
  const { q = '' } = readParameters(query, QUERY);
  const text = q.trim();
  const wanted = text.toLowerCase();
  const found: { readonly service: Service; readonly begins: boolean }[] = [];
  if (wanted !== '') {
    for (const service of shown.all()) {
      const [name, domain] = [service.name.toLowerCase(), service.domain.toLowerCase()];
      // Services of unverified domains of others are not listed (decisions, Ownership).
      const isListed = service.verified || isOwn(service, shown.accounts);
      if (!isListed || !(name.includes(wanted) || domain.includes(wanted))) continue;
      found.push({ service, begins: name.startsWith(wanted) || domain.startsWith(wanted) });
    }
    found.sort((a, b) => Number(b.begins) - Number(a.begins));
  }
  const kept = formQuery(asked);
  return {
    text,
    isMore: found.length > MAX_MATCHES_SHOWN,
    matches: found.slice(0, MAX_MATCHES_SHOWN).map(({ service: { name, domain }, service }) => ({
      name,
      domain,
      href: `/badges/${encodeURIComponent(shown.pageName(service))}${kept === '' ? '' : `?${kept}`}`,
    })),
  };
}

/** The query string of the form, which links to other services keep. */
function formQuery(asked: BadgeRequest): string {
  const query = badgeQuery(asked);
  const format = asked.format === FORMATS[0] ? '' : `format=${asked.format}`;
  return [query, format].filter((part) => part !== '').join('&');
}

function viewBadge(
  service: Service,
  asked: BadgeRequest,
  sources: BadgeBuilderSources,
  texts: Texts['badges'],
) {
  const { directory, siteUrl, badgeAddresses } = sources;
  const page = directory.pageName(service);
  const signed = badgeAddresses?.urlOf(service) ?? null;
  const place = { siteUrl, page, request: asked, ...(signed === null ? {} : { signed }) };
  const name = signed === null ? fullName(service) : nameWithoutHost(service);
  const alt = texts.alt(asked.label || name, asked.variant, texts.windows[asked.window]);
  // Our own picture instead of the one by Shields, because pages of this site load nothing from other sites.
  const format = asked.format === 'png' ? 'png' : 'svg';
  const previews = PICTURE_THEMES.map((theme) => ({
    theme,
    text: texts.themes[theme],
    pictures: BADGE_SCALES.map((scale) => ({
      ...sizeOf(asked, Number(scale)),
      scale: `${scale}×`,
      // One of the pictures says what all of them show.
      alt: theme === asked.theme && scale === '1' ? alt : '',
      src: pictureOf(page, { ...asked, theme, format, scale }),
    })),
  }));
  return {
    name: fullName(service),
    page,
    previews: startWith(previews, asked.theme),
    endpoint: asked.format === 'shields' ? badgeUrl(place) : null,
    snippets: badgeSnippets(place, alt),
  };
}

/** Examples of each variant: badges of the first service that is up, or of the first service if none is up. */
function viewExamples(shown: ShownServices, { status }: BadgeBuilderSources, texts: Texts['badges']) {
  const listed = shown.all().filter((service) => service.verified || isOwn(service, shown.accounts));
  const service = listed.find(({ id }) => status.get(id)?.status === 'up') ?? listed[0];
  if (service === undefined) return [];
  const page = shown.pageName(service);
  const examples = [...BADGE_VARIANTS.map((variant) => ({ variant })), { style: 'compact' } as const];
  return examples.map((example) => {
    const request = { ...DEFAULT_BADGE, ...example, format: 'svg' } as const;
    const { variant, style } = request;
    return {
      ...sizeOf(request, 1),
      text: style === 'compact' ? texts.example.compact : texts.example[variant],
      alt: texts.alt(fullName(service), variant, texts.windows[request.window]),
      picture: pictureOf(page, request),
      href: `/badges/${encodeURIComponent(page)}?${formQuery(request)}`,
    };
  });
}

/** The preview of the chosen theme first. */
function startWith<Preview extends { readonly theme: PictureTheme }>(
  previews: readonly Preview[],
  chosen: PictureTheme,
): Preview[] {
  return previews.toSorted((a, b) => Number(b.theme === chosen) - Number(a.theme === chosen));
}

/** Size of a picture in pixels of the page; the width of a compact badge is that of its text, null. */
function sizeOf({ style }: BadgeRequest, scale: number) {
  return style === 'compact'
    ? { width: null, height: 20 * scale }
    : { width: 280 * scale, height: 36 * scale };
}

/** The URL of the badge for pages of this site, which does not count against the rate limit of pictures. */
function pictureOf(page: string, request: BadgeRequest): string {
  const query = new URLSearchParams(badgeQuery(request));
  if (request.format === 'svg') query.set('format', 'svg');
  else if (request.scale === '2') query.set('scale', '2');
  return `/badges/${encodeURIComponent(page)}/picture${query.size === 0 ? '' : `?${query}`}`;
}
