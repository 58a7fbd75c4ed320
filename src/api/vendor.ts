/** `GET /api/v1/services/:slug/vendor`: a vendor's own word beside our verdict, and how late it is. */

import { Type } from '@sinclair/typebox';
import { acknowledgements } from '../domain/acknowledgement.ts';
import { DAY_MS } from '../domain/durations.ts';
import type { Service } from '../domain/service.ts';
import type { VendorWord } from '../domain/vendor-word.ts';
import { json, type Route } from '../http/route.ts';
import { named, nullable, strict, TimeSchema, whole } from '../http/schema.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import { findService, type ServiceDirectory } from '../view/service-directory.ts';
import { readOperation, SERVICE_SLUG } from './operation.ts';
import { ServiceNameSchema, viewServiceName } from './service-view.ts';
import { VendorWordSchema, viewAcknowledgement, viewVendorWord } from './vendor-view.ts';

const Lag = nullable(Type.Number(), "Seconds from our first failed check to the vendor's first entry.");

/** A vendor's word, and how long it takes to publish it. */
export const VendorSchema = named(
  'Vendor',
  Type.Object(
    {
      service: ServiceNameSchema,
      vendor: nullable(VendorWordSchema, 'Null where no status page is read.'),
      acknowledgement: Type.Object(
        {
          from: TimeSchema,
          outages: whole('Outages that our checks have seen since then, maintenance left out.'),
          acknowledged: whole('Of these, those of which the vendor has an incident.'),
          median_seconds: Lag,
          worst_seconds: Lag,
          entries: Type.Array(
            Type.Object(
              {
                incident_id: Type.String(),
                vendor_incident_id: nullable(Type.String()),
                started_at: TimeSchema,
                acknowledged_at: nullable(TimeSchema),
                lag_seconds: Lag,
              },
              strict,
            ),
            { description: 'Newest first.' },
          ),
        },
        strict,
      ),
    },
    strict,
  ),
);

/** How far back the lag looks. */
const YEAR_MS = 365 * DAY_MS;

/** What the route reads from. */
export interface VendorSources {
  readonly directory: ServiceDirectory;
  readonly registry: Pick<IncidentStore, 'incidentsSince'>;
  /** The vendor's word on a service; null: its status page is not read. */
  readonly vendorOf: (service: Service) => VendorWord | null;
  readonly now: () => number;
}

/** The route. */
export function vendorRoute({ directory, registry, vendorOf, now }: VendorSources): Route {
  return {
    path: '/api/v1/services/:slug/vendor',
    bucket: 'api',
    async handle(request) {
      const service = findService(directory, request);
      const from = now() - YEAR_MS;
      const incidents = await registry.incidentsSince(service.id, from);
      return json(
        JSON.stringify({
          service: viewServiceName(service),
          vendor: viewVendorWord(vendorOf(service)),
          acknowledgement: viewAcknowledgement(acknowledgements(incidents, now()), from),
        }),
      );
    },
    describe: () =>
      readOperation({
        id: 'getVendor',
        tag: 'Incidents',
        summary: "A vendor's own word, and how long it takes to say it",
        description:
          'The lag runs from our first failed check to the first entry that the vendor published, over a year; negative where the vendor was first.',
        path: [SERVICE_SLUG],
        answer: VendorSchema,
      }),
  };
}
