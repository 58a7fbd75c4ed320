/** Simulated RSS feed in which every update is an item of its own: the link is the incident's, the guid the update's. */
import { asHtml, escapeMarkup, type Render, rfc822Time } from './render.ts';
import type { ToldStatus } from './script.ts';

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
