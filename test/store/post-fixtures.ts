/** What owners say, for tests. */
import type { NewOwnerIncident, NewOwnerMaintenance } from '../../src/store/ports/incidents.ts';
import { NOON } from './registry-fixtures.ts';

export const HOUR = 3_600_000;

export const SITE = 'https://status.example';

/** An incident of an account before it is stored. */
export const posted = (accountId: number, more: Partial<NewOwnerIncident> = {}): NewOwnerIncident => ({
  accountId,
  title: 'Orders are late',
  severity: 'major',
  status: 'investigating',
  startedAt: NOON,
  resolvedAt: null,
  services: [],
  pages: [],
  updates: [{ at: NOON, status: 'investigating', markdown: 'We **look**.', plain: 'We look.' }],
  siteUrl: SITE,
  now: NOON,
  ...more,
});

/** A maintenance of an account before it is stored. */
export const planned = (accountId: number, more: Partial<NewOwnerMaintenance> = {}): NewOwnerMaintenance => ({
  accountId,
  title: 'New disks',
  markdown: 'It *may* be slow.',
  plain: 'It may be slow.',
  startsAt: NOON + HOUR,
  durationMs: HOUR,
  timeZone: 'Europe/Berlin',
  recurrence: null,
  services: [],
  pages: [],
  siteUrl: SITE,
  now: NOON,
  ...more,
});
