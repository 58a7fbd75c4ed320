/** What owners change of their services, on the program: by the calls of the registry that the API makes. */
import type { CheckDefinition, Service } from '../../src/domain/service.ts';
import type { RegistryClient } from '../../src/store/registry/registry-client.ts';
import { USUAL } from '../support/attempts.ts';
import type { DefinedService } from './diary.ts';
import { SILENCE_MS } from './world.ts';
import { componentsOf, pageOf } from './world-announcements.ts';
import type { Edit } from './world-edits.ts';

/** A service as the reference knows it. `intervalMs`: the usual one. */
export function describeService(
  { id, revision, paused, check }: Service,
  intervalMs: number,
): DefinedService {
  const { slowOverMs = USUAL.slowOverMs, periodMs = SILENCE_MS, graceMs = 0, schedule = null } = check;
  return {
    ...{ id, revision, slowOverMs, intervalMs: check.intervalMs ?? intervalMs, target: check.url ?? null },
    plan: JSON.stringify(Object.entries(check).sort()),
    state: paused ? 'paused' : 'live',
    beats: check.kind === 'heartbeat' ? { periodMs, graceMs, schedule } : null,
    ...{ page: pageOf(id - 1), components: componentsOf(id - 1) },
  };
}

/** Makes a change. Returns the changed service; `unchanged`: the change does not fit; null: the service is removed. */
export async function editService(
  client: Pick<RegistryClient, 'changeService' | 'removeService'>,
  service: Service,
  edit: Edit,
): Promise<Service | 'unchanged' | null> {
  const { slug, paused, check } = service;
  if (edit.what === 'remove') {
    await client.removeService(slug);
    return null;
  }
  if (edit.what === 'pause' || edit.what === 'resume') {
    const pauses = edit.what === 'pause';
    return pauses === paused ? 'unchanged' : await client.changeService(slug, { paused: pauses });
  }
  const next = changeCheck(service, edit);
  if (next === null || JSON.stringify(next) === JSON.stringify(check)) return 'unchanged';
  return await client.changeService(slug, { check: next });
}

type CheckEdit = Exclude<Edit, { readonly what: 'pause' | 'resume' | 'remove' }>;

/** The check after a change; null: the change does not fit. */
function changeCheck({ domain, revision, check }: Service, edit: CheckEdit): CheckDefinition | null {
  const isBeats = check.kind === 'heartbeat';
  if (isBeats !== (edit.what === 'period')) return null;
  if (edit.what === 'target') return { ...check, url: `https://${domain}/v${revision}` };
  // Schedules stand in place of periods.
  if (check.schedule !== undefined) return null;
  const { what, value } = edit;
  const [key, unitMs] = OWN[what];
  const { [key]: _before, ...rest } = check;
  return value === null ? rest : { ...rest, [key]: value * unitMs };
}

/** The members of a check that changes set, and the unit of their values, milliseconds. */
const OWN = {
  interval: ['intervalMs', 1_000],
  slow: ['slowOverMs', 1],
  period: ['periodMs', 1_000],
} as const;
