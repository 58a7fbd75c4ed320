/** Simulated RSS feed in which every update is an item of its own: the link is the incident's, the guid the update's. */
import { asHtml, escapeMarkup, isoTime, newestOf, type Render, rfc822Time } from './render.ts';
import type { ToldStatus, VendorIncident } from './script.ts';

/** Path of the page's document. */
export const RSS_PATH = '/feed.rss';

/** Writes the page. */
export const renderRss: Render = (vendor, state, now, baseUrl) => {
  const items = state.incidents
    .flatMap(({ id, title, updates }) => updates.map((update) => ({ id, title, update })))
    .sort((a, b) => b.update.at - a.update.at)
    .map(({ id, title, update }) => {
      const link = `${baseUrl}/incident/${id}`;
      const html = `<p><b>Status: ${wordOf(update.status)}</b></p>${asHtml(update.text)}`;
      return `<item><title>${escapeMarkup(title)}</title><link>${link}</link><guid>${link}#${update.at}</guid>
<description><![CDATA[${html}]]></description><pubDate>${rfc822Time(update.at)}</pubDate></item>`;
    });
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel><title>${escapeMarkup(vendor.name)} status</title><link>${baseUrl}</link>
<description>What happened</description><lastBuildDate>${rfc822Time(now)}</lastBuildDate>
${items.join('\n')}</channel></rss>`;
  return new Map([
    [RSS_PATH, { contentType: 'application/rss+xml; charset=utf-8', body: Buffer.from(text) }],
  ]);
};

function wordOf(status: ToldStatus): string {
  return `${status[0]?.toUpperCase()}${status.slice(1)}`;
}

/** Path of the page's document. */
export const ATOM_PATH = '/history.atom';

/** Writes the page. */
export const renderAtom: Render = (vendor, state, now, baseUrl) => {
  const { host } = new URL(baseUrl);
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<feed xml:lang="en" xmlns="http://www.w3.org/2005/Atom"><id>tag:${host},2026:history</id>
<title>${escapeMarkup(vendor.name)} status</title><updated>${isoTime(now)}</updated>
<link rel="self" type="application/atom+xml" href="${baseUrl}${ATOM_PATH}"/><author><name>${escapeMarkup(vendor.name)}</name></author>
${state.incidents.map((incident) => entryOf(incident, baseUrl, host)).join('\n')}</feed>`;
  return new Map([
    [ATOM_PATH, { contentType: 'application/atom+xml; charset=utf-8', body: Buffer.from(text) }],
  ]);
};

function entryOf({ id, title, startedAt, updates }: VendorIncident, baseUrl: string, host: string): string {
  const newest = newestOf(updates);
  const word = `${newest.status[0]?.toUpperCase()}${newest.status.slice(1)}`;
  const html = `<p><b>Status: ${word}</b></p>${asHtml(newest.text)}`;
  return `<entry><id>tag:${host},2026:incident/${id}</id><title>${escapeMarkup(title)}</title>
<published>${isoTime(startedAt)}</published><updated>${isoTime(newest.at)}</updated>
<link rel="alternate" type="text/html" href="${baseUrl}/incidents/${id}"/><content type="html">${escapeMarkup(html)}</content></entry>`;
}

/** The page for people, below the page's address. */
export const AZURE_PAGE = '/en-us/status';

/** Where the links of the feed lead: a host of the vendor's own, which readers cannot reach. */
const LINK = `https://azurestatusprod.example${AZURE_PAGE}/`;

/** Writes the page. */
export const renderAzure: Render = (_vendor, state, now) => {
  const items = state.incidents.filter(({ resolvedAt }) => resolvedAt === null).map(itemOf);
  const text = `\uFEFF<?xml version="1.0" encoding="utf-8"?>
<rss xmlns:a10="http://www.w3.org/2005/Atom" version="2.0"><channel><title>Azure Status</title><link>${LINK}</link>
<description>Azure Status</description><language>en-US</language><lastBuildDate>${rfc822Time(now, 'Z')}</lastBuildDate>
${items.join('\n')}</channel></rss>`;
  const document = { contentType: 'application/rss+xml; charset=utf-8', body: Buffer.from(text) };
  return new Map([
    [`${AZURE_PAGE}/feed/`, document],
    [`${AZURE_PAGE}/feed`, document],
  ]);
};

/** The guid is made of the title, so that the same event comes back under it; the title ends in a blank. */
function itemOf({ title, components, startedAt, updates }: VendorIncident): string {
  const { text } = newestOf(updates);
  const slug = title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const categories = components.map((name) => `<category>${escapeMarkup(name)}</category>`).join('');
  return `<item><guid isPermaLink="false">${slug}</guid><link>${LINK}</link>${categories}<title>${escapeMarkup(title)} </title>
<description>${escapeMarkup(asHtml(text))}</description><pubDate>${rfc822Time(startedAt, 'Z')}</pubDate></item>`;
}
