/** A registry whose thread may hang, and whose disk may be full. */
import { silentLog } from '../../../src/log.ts';
import { createStorageWatch } from '../../../src/store/registry/registry-client.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

/** The health of a registry whose test writes fail while `isFull`. */
export function createHealth(log = silentLog) {
  const state = { isFull: false };
  const clock = createFakeClock();
  const health = createStorageWatch({
    async tryWriting() {
      if (state.isFull) throw Object.assign(new Error('the disk is full'), { code: 'storage_full' });
    },
    clock,
    log,
  });
  return { state, clock, health };
}

export const SILENT = {
  code: 'storage_unreachable',
  message: 'the registry thread has not answered for 10 s',
};
