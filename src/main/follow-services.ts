/** The services as a process knows them that is not the monitor: loaded once, then kept current by the feed of changes. */
import { inParts, runInParts } from '../async/in-parts.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import type { ServiceChange, ServiceState } from '../store/ports/services.ts';
import type { RoleParts } from './open-stores.ts';

export interface FollowedServices {
  /** The regions whose verdicts counted for a service at the start. */
  readonly voters: readonly string[];
  /** The states of all services at the start. They are not kept: a second call returns an empty list. */
  takeStates(): readonly ServiceState[];
  /** Stops. Returns the position of the newest change that the directory has. */
  stop(): number;
}

/** Loads the directory and follows the changes. `onChange` is called with each change after it is applied. */
export async function followServices(
  { shared, directory }: RoleParts,
  onChange: (change: ServiceChange) => void = () => {},
): Promise<FollowedServices> {
  const { registry } = shared;
  let position = await registry.lastChange();
  let states: readonly ServiceState[] = await registry.loadServices();
  await directory.loadInParts(states.map(({ service }) => service));
  const voters = await votersOf(states);
  const unwatch = registry.watchChanges(position, (change) => {
    directory.apply(change);
    onChange(change);
    position = change.seq;
  });
  return {
    voters,
    takeStates() {
      const taken = states;
      states = [];
      return taken;
    },
    stop() {
      unwatch();
      return position;
    },
  };
}

/** The regions whose verdicts count for a service. */
export async function votersOf(states: readonly ServiceState[]): Promise<readonly string[]> {
  const voters = new Set<string>();
  await runInParts(inParts(states, ({ current }) => addVoters(voters, current)));
  return [...voters];
}

function addVoters(voters: Set<string>, { regions = [] }: CurrentStatus): void {
  for (const { region, votes } of regions) if (votes) voters.add(region);
}
