/** Bytes that the texts of an account's incidents and maintenances take, copies in the lists of services included. */
import { beginningOf, SHORT_TIMELINE } from './incident.ts';
import { type OwnerIncident, textBytesOf } from './owner-incident.ts';
import type { OwnerMaintenance } from './owner-maintenance.ts';

/** Of all incidents and maintenances of an account. A post that takes no more than before is never refused. */
export const MAX_POST_BYTES = 67_108_864;

/** Rows that each service of a maintenance has: the occurrence that runs or comes next, and the one after it. */
export const OCCURRENCES_AHEAD = 2;

type MaintenancePost = Pick<OwnerMaintenance, 'title' | 'markdown' | 'plain' | 'startsAt' | 'recurrence'>;

export function incidentBytesOf(
  post: Pick<OwnerIncident, 'title' | 'services' | 'updates' | 'postMortem'>,
): number {
  const { title, services, updates, postMortem } = post;
  const newest = (postMortem === null ? updates : [...updates, postMortem]).slice(-SHORT_TIMELINE.updates);
  const texts = [...newest, ...updates.slice(-1)].map(({ plain }) => beginningOf(plain)).join('');
  return Buffer.byteLength(title) + textBytesOf(post) + services.length * Buffer.byteLength(title + texts);
}

/**
 * Bytes of a maintenance that concerns `services`. `before`: the maintenance and the bytes that it took. One that moves leaves the rows
 * of its former occurrences.
 */
export function maintenanceBytesOf(
  { title, markdown, plain, startsAt, recurrence }: MaintenancePost,
  services: number,
  before: (Pick<MaintenancePost, 'startsAt' | 'recurrence'> & { readonly textBytes: number }) | null = null,
): number {
  const listed = Buffer.byteLength(title + plain) * services * OCCURRENCES_AHEAD;
  const hasMoved = before !== null && (before.startsAt !== startsAt || before.recurrence !== recurrence);
  return Buffer.byteLength(title + markdown + plain) + listed + (hasMoved ? before.textBytes : 0);
}
