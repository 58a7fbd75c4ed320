/**
 * Meta: `/data/orgs.json` of metastatus.com, the states of the services of each product, without incidents. A page of one
 * product, such as `/whatsapp-business-api`, is about that product alone.
 */
import type { FeedIncident } from '../../domain/incident/feed-entry.ts';
import { unreportedOutages } from '../build-entry.ts';
import { type FeedKind, originOf } from '../feed-kind.ts';
import { member, objectsAt, readJsonItems, textAt } from '../json-shape.ts';

/** `Resolved` stays for hours. */
const WELL = /^(?:no known issues|resolved|$)/i;
const BAD = /\b(?:major|high|severe|critical)\b/i;
const MILD = /\b(?:disruptions?|outage|degraded|degradation|issues?)\b/i;

/** Reads Meta's status. */
export const meta: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'orgs',
      url: feedUrl ?? `${originOf(pageUrl)}/data/orgs.json`,
      listsOnlyOpen: true,
      read(body, now) {
        const products = readJsonItems(
          body,
          'product',
          (item) => textAt(item, 'id') !== '' && Array.isArray(member(item, 'services')),
        );
        const own = products.filter((product) => textAt(product, 'id') === productOf(pageUrl));
        const parts = (own.length > 0 ? own : products).flatMap((product) =>
          objectsAt(product, 'services').map((service) => ({
            id: textAt(service, 'id'),
            names: [textAt(service, 'name'), textAt(product, 'name'), textAt(product, 'id')],
            severity: severityOf(textAt(service, 'status').slice(0, 100)),
          })),
        );
        return unreportedOutages({ pageUrl, parts, pageSeverity: null, title: null }, [], now);
      },
    },
  ],
};

/** The first part of the path; empty: none. */
function productOf(pageUrl: string): string {
  return new URL(pageUrl).pathname.split('/')[1] ?? '';
}

function severityOf(status: string): FeedIncident['severity'] | null {
  if (WELL.test(status)) return null;
  if (BAD.test(status)) return 'major';
  return MILD.test(status) ? 'minor' : null;
}
