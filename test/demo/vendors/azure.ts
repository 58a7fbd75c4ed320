/** Simulated Azure status: an RSS feed whose items are there only while something is wrong. */
import { asHtml, escapeMarkup, newestOf, type Render, rfc822Time } from './render.ts';
import type { VendorIncident } from './script.ts';

/** The page for people, below the page's address. */
export const AZURE_PAGE = '/en-us/status';

/** Writes the page. */
export const renderAzure: Render = (_vendor, state, now, baseUrl) => {
  const link = `${baseUrl}${AZURE_PAGE}/`;
  const items = state.incidents
    .filter(({ resolvedAt }) => resolvedAt === null)
    .map((incident) => itemOf(incident, link));
  const text = `\uFEFF<?xml version="1.0" encoding="utf-8"?>
<rss xmlns:a10="http://www.w3.org/2005/Atom" version="2.0"><channel><title>Azure Status</title><link>${link}</link>
<description>Azure Status</description><language>en-US</language><lastBuildDate>${rfc822Time(now, 'Z')}</lastBuildDate>
${items.join('\n')}</channel></rss>`;
  const document = { contentType: 'application/rss+xml; charset=utf-8', body: Buffer.from(text) };
  return new Map([
    [`${AZURE_PAGE}/feed/`, document],
    [`${AZURE_PAGE}/feed`, document],
  ]);
};

function itemOf({ id, title, startedAt, updates }: VendorIncident, link: string): string {
  const { status, text } = newestOf(updates);
  const word = `${status[0]?.toUpperCase()}${status.slice(1)}`;
  return `<item><guid isPermaLink="false">${id}</guid><title>${escapeMarkup(`${title} - ${word}`)}</title><link>${link}</link>
<description>${escapeMarkup(asHtml(text))}</description><pubDate>${rfc822Time(startedAt, 'Z')}</pubDate></item>`;
}
