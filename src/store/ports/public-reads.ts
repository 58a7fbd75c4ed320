/** The reads of the registry that endpoints and public pages make. */
import type { Registry } from './registry.ts';

/** Their names, for a cache that answers while the registry's server is unavailable. */
export const PUBLIC_READS = [
  'listIncidents',
  'countIncidents',
  'findIncident',
  'incidentsSince',
  'incidentsBeside',
  'incidentsOfServices',
  'listMaintenances',
  'countMaintenances',
  'maintenancesOfServices',
  'maintenancesPostedOn',
  'maintenancesPostedOf',
  'incidentsPostedOn',
  'findOwnerIncident',
  'announcedWindows',
  'dependenciesOf',
  'failingDependencies',
  'countFailingDependencies',
  'recentHeartbeats',
  'heartbeatLogs',
  'findPage',
  'unreadTimesSince',
] as const satisfies readonly (keyof Registry)[];

export type PublicReads = Pick<Registry, (typeof PUBLIC_READS)[number]>;
