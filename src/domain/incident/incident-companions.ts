/** Which incidents of a service are about the same trouble: what our checks saw, and what others say of it. */
import { type Acknowledgement, acknowledgements } from './acknowledgement.ts';
import type { Incident } from './incident.ts';

/** Maximum number of companions; of a service that flaps, the first ones. */
const MAX_COMPANIONS = 10;

/** An incident with what belongs to it. */
export interface Trouble {
  readonly incident: Incident;
  /** Our incidents beside one of a vendor or owner, and theirs beside one of ours; oldest first. */
  readonly companions: readonly Incident[];
  /** The lag of the vendor's first entry behind our first failed check; null: one of the two is missing. */
  readonly acknowledgement: Acknowledgement | null;
}

/**
 * Finds the companions of an incident among those of its service, in any order. A vendor's incident belongs to the
 * outages that it acknowledges (`acknowledgements`); an owner's, and maintenance, to the outages that it overlaps.
 */
export function gatherTrouble(incident: Incident, known: readonly Incident[], now: number): Trouble {
  const others = known.filter(({ id }) => id !== incident.id);
  const pairs = acknowledgements([incident, ...others], now).filter(
    ({ incidentId, vendorIncidentId }) =>
      vendorIncidentId !== null && [incidentId, vendorIncidentId].includes(incident.id),
  );
  const paired = new Set(pairs.flatMap(({ incidentId, vendorIncidentId }) => [incidentId, vendorIncidentId]));
  const companions = others
    .filter((other) => (other.source === 'own') !== (incident.source === 'own'))
    .filter((other) =>
      isAcknowledging(incident) && isAcknowledging(other)
        ? paired.has(other.id)
        : overlaps(incident, other, now),
    )
    .sort((a, b) => a.startedAt - b.startedAt)
    .slice(0, MAX_COMPANIONS);
  // Pairs are newest first: a vendor that acknowledges several outages answers the first one.
  return { incident, companions, acknowledgement: pairs.at(-1) ?? null };
}

/** Returns true if `acknowledgements` decides about the incident. */
function isAcknowledging({ source, severity }: Incident): boolean {
  return source !== 'owner' && severity !== 'maintenance';
}

function overlaps(one: Incident, other: Incident, now: number): boolean {
  return one.startedAt <= (other.resolvedAt ?? now) && other.startedAt <= (one.resolvedAt ?? now);
}
