/**
 * incident.io, by the documents that it serves in the manner of Statuspage: `/api/v2/incidents.json`, and
 * `/api/v2/summary.json` for maintenances, which it lists nowhere else. Empty lists are null; incidents name no
 * components and have no link of their own. A feed address is read as for Statuspage.
 */
import { collectEntries } from '../collect-entries.ts';
import type { FeedKind } from '../feed-kind.ts';
import { apiBase, readStatuspageEntries } from './statuspage.ts';

/** Reads incident.io. */
export const incidentio: FeedKind = {
  addresses(source) {
    const base = apiBase(source);
    return [
      {
        name: 'incidents',
        url: `${base}/incidents.json`,
        read: (document, now) => ({
          entries: collectEntries(readStatuspageEntries(document, 'incidents', source), now),
          listsOnlyOpen: false,
        }),
      },
      {
        name: 'summary',
        url: `${base}/summary.json`,
        read: (document, now) => ({
          entries: collectEntries(readStatuspageEntries(document, 'scheduled_maintenances', source), now),
          listsOnlyOpen: true,
        }),
      },
    ];
  },
};
