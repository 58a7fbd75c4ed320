/** `GET /api/v1/maintenance`: maintenances that vendors announced. */
import { Type } from '@sinclair/typebox';
import { limitParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { json, type Route } from '../http/route.ts';
import { named, PAGE_MEMBERS, strict, whole } from '../http/schema.ts';
import type { VendorStore } from '../store/ports/vendors.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { readOperation } from './operation.ts';
import { viewServiceName } from './service-view.ts';
import { MaintenanceSchema, viewMaintenance } from './vendor-view.ts';

const QUERY = { limit: limitParameter(50, 100), offset: OFFSET_PARAMETER };

/** Maintenances that are planned or run. */
export const MaintenancesSchema = named(
  'MaintenanceList',
  Type.Object(
    {
      maintenance: Type.Array(MaintenanceSchema, { description: 'By their start, earliest first.' }),
      total: whole('Maintenances that are planned or run.'),
      ...PAGE_MEMBERS,
    },
    strict,
  ),
);

/** What the route reads from. */
export interface MaintenanceSources {
  readonly directory: ServiceDirectory;
  readonly registry: Pick<VendorStore, 'listMaintenances' | 'countMaintenances'>;
}

/** The route. */
export function maintenanceRoute({ directory, registry }: MaintenanceSources): Route {
  return {
    path: '/api/v1/maintenance',
    bucket: 'api',
    async handle({ query }) {
      const { limit, offset } = readParameters(query, QUERY);
      const [found, total] = await Promise.all([
        registry.listMaintenances({ limit: Number(limit), offset: Number(offset) }),
        registry.countMaintenances({}),
      ]);
      const maintenance = found.flatMap((one) => {
        const service = directory.byId(one.serviceId);
        return service === null ? [] : [{ ...viewMaintenance(one), service: viewServiceName(service) }];
      });
      return json(JSON.stringify({ maintenance, total, limit, offset }));
    },
    describe: () =>
      readOperation({
        id: 'listMaintenance',
        tag: 'Incidents',
        summary: 'Maintenances that vendors announced, upcoming and running',
        description: 'By their start, earliest first, then by id.',
        query: QUERY,
        answer: MaintenancesSchema,
      }),
  };
}
