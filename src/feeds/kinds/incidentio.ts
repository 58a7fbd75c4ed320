/**
 * incident.io, by documents like Statuspage's: `/api/v2/incidents.json`, and `/api/v2/summary.json` for maintenances and
 * the states of components, which no other document lists. Empty lists are left out or null; incidents have neither
 * components nor links. A feed URL is used as for Statuspage.
 */

import { FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { type JsonObject, objectAt, requireObjects } from '../json-shape.ts';
import { apiBase, readStates, readStatuspageEntries } from './statuspage.ts';

/** Reads incident.io. */
export const incidentio: FeedKind = {
  addresses(source) {
    const base = apiBase(source);
    return [
      {
        name: 'incidents',
        url: `${base}/incidents.json`,
        listsOnlyOpen: false,
        read: (body) => readStatuspageEntries(body, 'incidents', source, listOrNone),
      },
      {
        name: 'summary',
        url: `${base}/summary.json`,
        listsOnlyOpen: true,
        read(body, now) {
          const maintenances = readStatuspageEntries(body, 'scheduled_maintenances', source, listOfSummary);
          const incidents = readStatuspageEntries(body, 'incidents', source, listOrNone);
          return [...maintenances, ...readStates(body, source, [...incidents, ...maintenances], now)];
        },
      },
    ];
  },
};

/** A missing list is empty, unless the document reports an error. */
function listOrNone(top: JsonObject, name: string): JsonObject[] {
  if (Object.hasOwn(top, name)) return requireObjects(top, name);
  if (Object.hasOwn(top, 'error')) throw new FeedFormatError(`the document has no list "${name}"`);
  return [];
}

/** A summary contains the page's status. Without it, a list that is left out would end the maintenances in it. */
function listOfSummary(top: JsonObject, name: string): JsonObject[] {
  if (objectAt(top, 'status') === null) throw new FeedFormatError('the document is no summary');
  return listOrNone(top, name);
}
