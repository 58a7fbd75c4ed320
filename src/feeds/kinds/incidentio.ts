/**
 * incident.io, by the documents that it serves in the manner of Statuspage: `/api/v2/incidents.json`, and
 * `/api/v2/summary.json` for maintenances, which it lists nowhere else. Empty lists are left out or null; incidents
 * name no components and have no link of their own. A feed address is read as for Statuspage.
 */
import { collectEntries } from '../build-entry.ts';
import { FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { type JsonObject, member, requireObjects, toObject } from '../json-shape.ts';
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
          entries: collectEntries(readStatuspageEntries(document, 'incidents', source, listOrNone), now),
          listsOnlyOpen: false,
        }),
      },
      {
        name: 'summary',
        url: `${base}/summary.json`,
        read: (document, now) => ({
          entries: collectEntries(
            readStatuspageEntries(document, 'scheduled_maintenances', source, listOfSummary),
            now,
          ),
          listsOnlyOpen: true,
        }),
      },
    ];
  },
};

/** A page that is named has nothing to list where the list is left out. An answer that names an error tells nothing. */
function listOrNone(top: JsonObject, name: string): JsonObject[] {
  if (Object.hasOwn(top, name)) return requireObjects(top, name);
  if (Object.hasOwn(top, 'error')) throw new FeedFormatError(`the document has no list "${name}"`);
  return [];
}

/** A summary tells the page's status: without one, what it leaves out would count as ended. */
function listOfSummary(top: JsonObject, name: string): JsonObject[] {
  if (toObject(member(top, 'status')) === null) throw new FeedFormatError('the document is no summary');
  return listOrNone(top, name);
}
