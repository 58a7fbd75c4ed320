/** The open alerts of an account, read from what the engine remembers of it. */
import type { AlertState, NamedService } from './alert-state.ts';

/** Maximum number of services of an alert that are named; `total` says how many there are. */
const MAX_NAMED = 20;

/** An alert that was told and is not over. */
export interface OpenAlert {
  readonly thread: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** The first services that it is about. */
  readonly services: readonly NamedService[];
  readonly total: number;
  /** `by`: empty: somebody, by a link. Null: nobody has acknowledged it. */
  readonly acknowledged: { readonly by: string; readonly at: number } | null;
}

/** The open alerts, oldest first. `taken`: acknowledgements by thread, which the engine may not have read yet. */
export function listOpenAlerts(
  { threads, conditions }: Pick<AlertState, 'threads' | 'conditions'>,
  taken: ReadonlyMap<string, { readonly by: string; readonly at: number }>,
): OpenAlert[] {
  const services = new Map<string, Map<number, NamedService>>();
  for (const { service, tellings } of conditions.values())
    for (const { thread } of Object.values(tellings)) {
      if (thread === null) continue;
      const named = services.get(thread) ?? new Map<number, NamedService>();
      services.set(thread, named.set(service.id, service));
    }
  return [...threads]
    .map(([thread, { startedAt, acknowledged }]): OpenAlert => {
      const named = [...(services.get(thread)?.values() ?? [])];
      return {
        thread,
        since: startedAt,
        services: named.slice(0, MAX_NAMED),
        total: named.length,
        acknowledged: acknowledged ?? taken.get(thread) ?? null,
      };
    })
    .sort((one, other) => one.since - other.since);
}
