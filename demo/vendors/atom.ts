/** Simulated Atom feed with one entry for each incident, whose content is rewritten with each update. */
import { asHtml, escapeMarkup, isoTime, newestOf, type Render } from './render.ts';
import type { VendorIncident } from './script.ts';

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
