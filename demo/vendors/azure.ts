/** Simulated Azure status: an RSS feed whose items are there only while something is wrong. */
import { asHtml, escapeMarkup, newestOf, type Render, rfc822Time } from './render.ts';
import type { VendorIncident } from './script.ts';

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
