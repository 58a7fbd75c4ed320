/** What vendors say: one incident with its timeline, a vendor's word and lag, maintenances known ahead. */
import { acknowledgements } from '../domain/acknowledgement.ts';
import type { Service } from '../domain/service.ts';
import type { VendorWord } from '../domain/vendor-word.ts';
import { limitParameter, OFFSET_PARAMETER, readParameters } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import { json, type Route } from '../http/route.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import type { VendorStore } from '../store/ports/vendors.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { viewIncidentInFull, viewIncidentService } from './incident-view.ts';
import { findService } from './reading-routes.ts';
import { viewAcknowledgement, viewMaintenance, viewVendorWord } from './vendor-view.ts';

/** Query parameters of `GET /maintenance`. */
export const MAINTENANCE_QUERY = { limit: limitParameter(50, 100), offset: OFFSET_PARAMETER };

/** How far back the lag looks. */
const YEAR_MS = 365 * 86_400_000;

/** What these routes read from. */
export interface VendorSources {
  readonly directory: ServiceDirectory;
  readonly registry: Pick<IncidentStore, 'findIncident' | 'incidentsSince'> &
    Pick<VendorStore, 'listMaintenances' | 'countMaintenances'>;
  readonly vendorOf: (service: Service) => VendorWord | null;
  readonly now: () => number;
}

/** The routes. */
export function vendorRoutes({ directory, registry, vendorOf, now }: VendorSources): Route[] {
  return [
    {
      path: '/api/v1/incidents/:slug/:id',
      bucket: 'api',
      async handle(request) {
        const service = findService(directory, request);
        const id = request.params.id ?? '';
        const incident = await registry.findIncident(id);
        if (incident === null || incident.serviceId !== service.id) {
          throw new HttpError('incident_not_found', `${service.name} has no incident "${id.slice(0, 200)}".`);
        }
        return json(
          JSON.stringify({
            service: viewIncidentService(service),
            incident: viewIncidentInFull(incident),
          }),
        );
      },
    },
    {
      path: '/api/v1/services/:slug/vendor',
      bucket: 'api',
      async handle(request) {
        const service = findService(directory, request);
        const from = now() - YEAR_MS;
        const incidents = await registry.incidentsSince(service.id, from);
        return json(
          JSON.stringify({
            service: viewIncidentService(service),
            vendor: viewVendorWord(vendorOf(service)),
            acknowledgement: viewAcknowledgement(acknowledgements(incidents, now()), from),
          }),
        );
      },
    },
    {
      path: '/api/v1/maintenance',
      bucket: 'api',
      async handle({ query }) {
        const { limit, offset } = readParameters(query, MAINTENANCE_QUERY);
        const [found, total] = await Promise.all([
          registry.listMaintenances({ limit: Number(limit), offset: Number(offset) }),
          registry.countMaintenances({}),
        ]);
        const maintenance = found.flatMap((one) => {
          const service = directory.byId(one.serviceId);
          return service === null ? [] : [{ ...viewMaintenance(one), service: viewIncidentService(service) }];
        });
        return json(JSON.stringify({ maintenance, total, limit, offset }));
      },
    },
  ];
}
