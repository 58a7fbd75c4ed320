/**
 * Salesforce Trust: `https://api.status.salesforce.com/v1/instances`, a list of instances with a word of status each and,
 * where the answer has them, their incidents and maintenances; the same one is listed under every instance that it
 * concerns. A feed address, where one is given, is that of this document.
 */
import type { FeedEntry, FeedIncident } from '../../domain/feed-entry.ts';
import { buildIncident, collectEntries } from '../build-entry.ts';
import { type FeedDocument, FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { type JsonObject, member, readJsonList, toObjects, toText, toWord } from '../json-shape.ts';
import { readTrustIncident, readTrustMaintenance } from './salesforce-trust.ts';

const DOCUMENT = 'https://api.status.salesforce.com/v1/instances';

/** One incident or maintenance and the instances that list it. */
interface Listed {
  readonly item: JsonObject;
  readonly instances: string[];
}

/** Reads Salesforce Trust. */
export const salesforce: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'instances',
      url: feedUrl ?? DOCUMENT,
      read(document, now) {
        const instances = requireInstances(document);
        const found = [
          ...listedUnder(instances, 'Incidents').map(({ item, instances }) =>
            readTrustIncident(item, instances, pageUrl),
          ),
          ...listedUnder(instances, 'Maintenances').map(({ item, instances }) =>
            readTrustMaintenance(item, instances, pageUrl),
          ),
          ...wordsAlone(instances, pageUrl),
        ].filter((entry): entry is FeedEntry => entry !== null);
        return { entries: collectEntries(found, now), listsOnlyOpen: true };
      },
    },
  ],
};

/** There are always some. */
function requireInstances(document: FeedDocument): JsonObject[] {
  const list = toObjects(readJsonList(document));
  const instances = list.filter((item) => keyOf(item) !== '' && toText(member(item, 'status')) !== '');
  if (instances.length === 0) throw new FeedFormatError('the document lists no instance');
  return instances;
}

/** By identifier, in the order in which they are first listed. */
function listedUnder(instances: readonly JsonObject[], list: 'Incidents' | 'Maintenances'): Listed[] {
  const listed = new Map<string, Listed>();
  for (const instance of instances) {
    for (const item of toObjects(member(instance, list))) {
      const id = toText(member(item, 'id'));
      const known = listed.get(id);
      if (known !== undefined) known.instances.push(keyOf(instance));
      else if (id !== '') listed.set(id, { item, instances: [keyOf(instance)] });
    }
  }
  return [...listed.values()];
}

/** Where an instance lists no incidents at all, its word is all there is: one entry for each severity. */
function wordsAlone(instances: readonly JsonObject[], pageUrl: string): FeedIncident[] {
  const silent = instances.filter((instance) => !Array.isArray(member(instance, 'Incidents')));
  return (['major', 'minor'] as const).flatMap((severity) => {
    const concerned = silent
      .filter((instance) => toWord(member(instance, 'status')).startsWith(`${severity}_incident`))
      .map(keyOf);
    if (concerned.length === 0) return [];
    return [
      buildIncident({
        key: `status ${severity}`,
        title: severity === 'major' ? 'Service disruption' : 'Performance degradation',
        sourceUrl: pageUrl,
        components: concerned,
        updates: [],
        severity,
        status: 'investigating',
        startedAt: null,
        resolvedAt: null,
      }),
    ];
  });
}

function keyOf(instance: JsonObject): string {
  return toText(member(instance, 'key'));
}
