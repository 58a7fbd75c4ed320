/**
 * The role of a cluster process that currently neither evaluates results nor serves the site: a judge that waits for
 * the lease, or a node that only makes checks. It answers only `/healthz`, `/readyz` and `/metrics`.
 */
import type { Log } from '../log.ts';
import { createMemoryStatusStore } from '../store/status/memory-status-store.ts';
import type { Role } from './active-role.ts';
import { UNKNOWN_MONITOR_STATE } from './monitor-state.ts';

/** The fleet of a process that makes no checks. */
export const NO_FLEET: Role['fleet'] = {
  report: () => ({ services: 0, restarts: 0, checksDone: 0, hosts: [] }),
};

/** Creates the role. `standby`: the process becomes the monitor when the lease is free. */
export function createIdleRole(name: 'standby' | 'probing', log: Log): Role {
  const status = createMemoryStatusStore({ log });
  const notServed = async () => {
    throw new Error('this process does not serve');
  };
  return {
    name,
    status,
    samples: { query: notServed, newest: notServed, regionsOf: notServed },
    heartbeats: { takeHeartbeat: notServed, noteRefusal() {} },
    vendorOf: () => null,
    watchTransitions: () => () => {},
    prober: () => UNKNOWN_MONITOR_STATE.prober,
    stores: () => ({}),
    fleet: NO_FLEET,
    feeds: () => [],
    polls: () => ({ good: 0, failed: 0 }),
    reload: async () => {},
    stop: () => status.close(),
  };
}
