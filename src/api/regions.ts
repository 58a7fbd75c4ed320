/** The regions from which services are checked. */
import { regionsOf } from '../domain/node.ts';
import { json, type Route } from '../http/route.ts';
import { listOf, namedObject, whole } from '../http/schema.ts';
import { Type } from '../json-schema.ts';
import type { Readiness } from '../view/monitor.ts';
import { readRoute } from './read-route.ts';

/** The regions in which at least one node makes checks now. */
const RegionsSchema = namedObject('RegionList', {
  regions: listOf('By name.', {
    region: Type.String({ pattern: '^[a-z0-9-]{1,32}$', examples: ['eu'] }),
    online: Type.Boolean({
      description: 'False: no node of the region reaches the internet, so that nothing is judged from there.',
    }),
    nodes: whole('Nodes that make checks there now.'),
  }),
});

export function regionsRoute({ readiness }: { readonly readiness: () => Readiness }): Route {
  return readRoute({
    path: '/api/v1/regions',
    id: 'listRegions',
    tag: 'Regions',
    summary: 'List regions',
    description:
      'A monitor that consists of one process checks from one region. A region whose last node has ended is no longer listed after a few seconds.',
    answer: RegionsSchema,
    handle: () => json({ regions: regionsOf(readiness().nodes) }),
  });
}
