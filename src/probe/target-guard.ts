/** Which addresses and ports the check of a service may reach (operating, `checks.allowPrivate` and `checks.ports`). */
import type { CheckTarget } from '../domain/check-target.ts';
import { type AddressGuard, createAddressGuard } from '../outbound/address-guard.ts';

/** The settings that decide it. */
export interface GuardSettings {
  /** CIDR blocks of private addresses that the catalogue may name, on any port. */
  readonly allowPrivate: readonly string[];
  /** Ports that may be probed. */
  readonly ports: readonly number[];
  /** Opens the blocks to owners' services too; for tests alone. */
  readonly ownersMayProbePrivate: boolean;
}

/** Gives the guard of a service whose check begins at `port`. */
export type TargetGuards = (target: Pick<CheckTarget, 'origin' | 'check'>, port: number) => AddressGuard;

/**
 * The catalogue may name private blocks, and a port of its own in `check.url`. Owners may name neither, unless
 * `ownersMayProbePrivate` opens the blocks to them. Throws where a block cannot be read.
 */
export function createTargetGuards(settings: GuardSettings): TargetGuards {
  const { allowPrivate, ports, ownersMayProbePrivate } = settings;
  const owners = createAddressGuard({ allowPrivate: ownersMayProbePrivate ? allowPrivate : [], ports });
  const catalogue = createAddressGuard({ allowPrivate, ports });
  const byPort = new Map<number, AddressGuard>();
  return ({ origin, check }, port) => {
    if (origin === 'owner') return owners;
    if (check.url === null || ports.includes(port)) return catalogue;
    let guard = byPort.get(port);
    if (guard === undefined) {
      guard = createAddressGuard({ allowPrivate, ports: [...ports, port] });
      byPort.set(port, guard);
    }
    return guard;
  };
}
