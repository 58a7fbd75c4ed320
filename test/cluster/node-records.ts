/** Records of nodes for tests. */
import type { NodeRecord } from '../../src/cluster/node-record.ts';

export const NOW = Date.UTC(2026, 10, 22);

export const RECORD: NodeRecord = {
  name: 'a',
  region: 'eu',
  roles: ['judge', 'probe'],
  version: '1.2.3',
  host: 'alpha',
  pid: 7,
  process: 'boot ns 7 100',
  since: NOW,
  services: 3,
  checksPerSecond: 0.5,
  online: false,
  offlineSince: NOW + 1,
  reachesRegistry: false,
  clockOffsetMs: -5,
  starting: false,
  checksProblem: null,
};
