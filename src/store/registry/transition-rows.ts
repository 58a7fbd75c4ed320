/** Reading the feed of transitions. */
import type { Transition } from '../../domain/current.ts';
import type { RegistryStore } from './registry-store.ts';

/** Most transitions of one service that one call returns. */
const TRANSITIONS_PER_SERVICE = 1_000;

/**
 * Transitions after `position`, in order, each with the present slug of its service. Those of removed services are left
 * out: their slugs may be another's by now.
 */
export function transitionsAfter(store: RegistryStore, position: number, limit: number): Transition[] {
  return store.queries.all(
    selectTransitions(store)
      .where('position', '>', position)
      .where('removed', '=', 0)
      .orderBy('position')
      .limit(limit),
  );
}

/** Transitions of one service that began in `[from, to)`, oldest first, at most 1,000. */
export function transitionsOf(
  store: RegistryStore,
  serviceId: number,
  from: number,
  to: number,
): Transition[] {
  return store.queries.all(
    selectTransitions(store)
      .where('service_id', '=', serviceId)
      .where('at', '>=', from)
      .where('at', '<', to)
      .orderBy('at')
      .orderBy('transitions.seq')
      .limit(TRANSITIONS_PER_SERVICE),
  );
}

/** Newest position of the feed; 0: none. */
export function lastTransition({ kysely, queries }: RegistryStore): number {
  const newest = kysely.selectFrom('transitions').select('position').orderBy('position', 'desc').limit(1);
  return queries.first(newest)?.position ?? 0;
}

function selectTransitions({ kysely }: RegistryStore) {
  return kysely
    .selectFrom('transitions')
    .innerJoin('services', 'services.id', 'transitions.service_id')
    .select([
      'position',
      'service_id as serviceId',
      'slug',
      'transitions.seq as seq',
      'from_status as from',
      'to_status as to',
      'at',
      'recorded_at as recordedAt',
      'reason',
    ]);
}
