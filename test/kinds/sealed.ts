/** Checks with credentials, as a host thread gets them: encrypted. */
import { randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import { deriveChecksKey, NONCE_BYTES, sealCredential } from '../../src/domain/credential-seal.ts';
import type { CheckSettings, ProbedKind } from '../../src/domain/service.ts';
import { openProbe } from '../probe/try-probe.ts';

const KEY = deriveChecksKey(Buffer.alloc(32, 1));

/** A prober that reads them, and the check of a kind with its settings and some credentials. `destination`: where they are sent. */
export function sealed(t: Test, kind: ProbedKind, settings: CheckSettings, destination: string) {
  return {
    probe: openProbe(t, { checksKey: KEY }),
    check: (secrets: CheckSettings) => ({
      check: {
        kind,
        settings,
        sealed: Object.fromEntries(
          Object.entries(secrets).map(([setting, value]) => [
            setting,
            sealCredential(
              KEY,
              { domain: '127.0.0.1', kind, destination, setting },
              JSON.stringify(value),
              randomBytes(NONCE_BYTES),
            ),
          ]),
        ),
      },
    }),
  };
}
