/** Simulated feeds in RSS and Atom. */
import { asHtml, escapeMarkup, isoTime, newestOf, type Render, rfc822Time } from './render.ts';
import type { ToldUpdate, VendorIncident } from './script.ts';

/** Path of the document. */
export const RSS_PATH = '/feed.rss';

/** Writes RSS in which each update is an item: the link is that of the incident, the guid that of the update. */
export const renderRss: Render = (vendor, state, now, baseUrl) => {
  const items = state.incidents
    .flatMap(({ id, title, updates }) => updates.map((update) => ({ id, title, update })))
    .sort((a, b) => b.update.at - a.update.at)
    .map(({ id, title, update }) => {
      const link = `${baseUrl}/incident/${id}`;
      return `<item><title>${escapeMarkup(title)}</title><link>${link}</link><guid>${link}#${update.at}</guid>
<description><![CDATA[${viewUpdate(update)}]]></description><pubDate>${rfc822Time(update.at)}</pubDate></item>`;
    });
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel><title>${escapeMarkup(vendor.name)} status</title><link>${baseUrl}</link>
<description>What happened</description><lastBuildDate>${rfc822Time(now)}</lastBuildDate>
${items.join('\n')}</channel></rss>`;
  return new Map([
    [RSS_PATH, { contentType: 'application/rss+xml; charset=utf-8', body: Buffer.from(text) }],
  ]);
};

/** Writes StatusCast's RSS: an item for each post, whose guid is that of the incident and its own, and whose text says the state. */
export const renderStatusCast: Render = (vendor, state, _now, baseUrl) => {
  const items = state.incidents
    .flatMap(({ number, title, updates }) => updates.map((update) => ({ number, title, update })))
    .sort((a, b) => b.update.at - a.update.at)
    .map(({ number, title, update: { at, status, text } }) => {
      const said = status === 'resolved' ? `This incident has been resolved. ${text}` : text;
      return `<item><guid isPermaLink="false">/${number}/${at}</guid><title>${escapeMarkup(title)}</title><link>${baseUrl}/incident/${number}</link>
<description>${escapeMarkup(asHtml(said))}</description><pubDate>${rfc822Time(at)}</pubDate></item>`;
    });
  const text = `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel><title>${escapeMarkup(vendor.name)} Status</title><link>${baseUrl}</link>
${items.join('\n')}</channel></rss>`;
  const document = { contentType: 'application/rss+xml; charset=utf-8', body: Buffer.from(text) };
  return new Map([['/rss/', document]]);
};

function viewUpdate({ status, text }: ToldUpdate): string {
  return `<p><b>Status: ${status[0]?.toUpperCase()}${status.slice(1)}</b></p>${asHtml(text)}`;
}

/** Path of the document. */
export const ATOM_PATH = '/history.atom';

/** Writes Atom with one entry for each incident, whose content is replaced with each update. */
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
  const html = viewUpdate(newest);
  return `<entry><id>tag:${host},2026:incident/${id}</id><title>${escapeMarkup(title)}</title>
<published>${isoTime(startedAt)}</published><updated>${isoTime(newest.at)}</updated>
<link rel="alternate" type="text/html" href="${baseUrl}/incidents/${id}"/><content type="html">${escapeMarkup(html)}</content></entry>`;
}

/** Path of Azure's page for people. */
export const AZURE_PAGE = '/en-us/status';

/** Links lead to an internal host of the vendor. */
const LINK = `https://azurestatusprod.example${AZURE_PAGE}/`;

/** Writes Azure's RSS, which lists only open incidents. */
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

/** The guid is a slug of the title, so it comes back with the next event; the title ends in a space. */
function itemOf({ title, components, startedAt, updates }: VendorIncident): string {
  const { text } = newestOf(updates);
  const slug = title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const categories = components.map((name) => `<category>${escapeMarkup(name)}</category>`).join('');
  return `<item><guid isPermaLink="false">${slug}</guid><link>${LINK}</link>${categories}<title>${escapeMarkup(title)} </title>
<description>${escapeMarkup(asHtml(text))}</description><pubDate>${rfc822Time(startedAt, 'Z')}</pubDate></item>`;
}
