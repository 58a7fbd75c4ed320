/** The named types of the OpenAPI document: each stands once in `components.schemas`, and everywhere else by reference. */
import type { TSchema } from '@sinclair/typebox';
import {
  DependenciesSchema,
  DependencyReportSchema,
  FailSchema,
  HeartbeatAnswerSchema,
  HeartbeatSchema,
  ServiceDependenciesSchema,
  StartSchema,
} from '../api/heartbeat-schemas.ts';
import {
  HistorySchema,
  IncidentSchema,
  IncidentServiceSchema,
  IncidentsSchema,
  LatestCheckSchema,
  MaintenanceSchema,
  ProblemSchema,
  ServiceIncidentsSchema,
  ServiceSchema,
  ServicesSchema,
  StatusSchema,
  TimeSchema,
  VendorSchema,
  VendorWordSchema,
} from '../api/schemas.ts';
import { PageSchema } from '../api/status-pages.ts';
import { ShieldsSchema } from '../images/badge-shields.ts';

/** Every type by its name. */
const NAMED: Readonly<Record<string, TSchema>> = {
  Time: TimeSchema,
  Service: ServiceSchema,
  ServiceList: ServicesSchema,
  ServiceName: IncidentServiceSchema,
  ServiceStatus: StatusSchema,
  LatestCheck: LatestCheckSchema,
  VendorWord: VendorWordSchema,
  Vendor: VendorSchema,
  Incident: ServiceIncidentsSchema.properties.incidents.items,
  IncidentOfService: IncidentsSchema.properties.incidents.items,
  IncidentWithTimeline: IncidentSchema.properties.incident,
  IncidentDetail: IncidentSchema,
  IncidentList: IncidentsSchema,
  ServiceIncidents: ServiceIncidentsSchema,
  Maintenance: MaintenanceSchema.properties.maintenance.items,
  MaintenanceList: MaintenanceSchema,
  History: HistorySchema,
  HistoryBucket: HistorySchema.properties.buckets.items,
  Heartbeat: HeartbeatSchema,
  DependencyReport: DependencyReportSchema,
  HeartbeatStart: StartSchema,
  HeartbeatFailure: FailSchema,
  HeartbeatReply: HeartbeatAnswerSchema,
  ServiceDependencies: ServiceDependenciesSchema,
  DependencyList: DependenciesSchema,
  StatusPage: PageSchema,
  ShieldsBadge: ShieldsSchema,
  Problem: ProblemSchema,
};

/** The named types as `components.schemas` has them. */
export function componentSchemas(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(NAMED).map(([name, schema]) => {
      const own = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
      const members = Object.entries(own).map(([member, value]) => [member, withReferences(value)]);
      return [name, Object.fromEntries(members)];
    }),
  );
}

const NAME_OF = new Map(Object.entries(NAMED).map(([name, schema]) => [JSON.stringify(schema), name]));

/** A part of the document with a reference in place of each named type. */
export function withReferences<T>(part: T): T {
  return refer(JSON.parse(JSON.stringify(part))) as T;
}

function refer(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(refer);
  if (typeof value !== 'object' || value === null) return value;
  const name = NAME_OF.get(JSON.stringify(value));
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
  return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, refer(inner)]));
}
