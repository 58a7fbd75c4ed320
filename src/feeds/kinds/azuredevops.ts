/** Azure DevOps: `/_apis/status/health` (documented REST API), the health of each service in each geography, without incidents. */

import { unreportedOutages } from '../build-entry.ts';
import { FeedFormatError, type FeedKind, originOf } from '../feed-kind.ts';
import {
  lookUp,
  objectAt,
  objectsAt,
  readJsonObject,
  requireObjects,
  textAt,
  wordAt,
} from '../json-shape.ts';

/** `advisory` and `unknown` are no outages. */
const SEVERITIES = { degraded: 'minor', unhealthy: 'major' } as const;

/** Reads Azure DevOps. */
export const azuredevops: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'health',
      url: feedUrl ?? `${originOf(pageUrl)}/_apis/status/health?api-version=7.1-preview.1`,
      listsOnlyOpen: true,
      read(body, now) {
        const top = readJsonObject(body);
        const status = objectAt(top, 'status');
        if (textAt(status, 'health') === '') throw new FeedFormatError('the document has no health');
        const parts = requireObjects(top, 'services').flatMap((service) =>
          objectsAt(service, 'geographies').map((place) => ({
            id: textAt(place, 'id'),
            names: [textAt(service, 'id'), textAt(place, 'name'), textAt(place, 'id')],
            severity: lookUp(SEVERITIES, wordAt(place, 'health')),
          })),
        );
        const pageSeverity = lookUp(SEVERITIES, wordAt(status, 'health'));
        const title = pageSeverity === null ? null : textAt(status, 'message') || null;
        return unreportedOutages({ pageUrl, parts, pageSeverity, title }, [], now);
      },
    },
  ],
};
