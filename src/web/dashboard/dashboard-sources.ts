/** What the pages of the dashboard share. */

import type { DomainProofs } from '../../auth/domain-proof.ts';
import type { Clock } from '../../clock.ts';
import type { HttpResponse } from '../../http/route.ts';
import type { AccountStore } from '../../store/ports/accounts.ts';
import type { HeartbeatStore } from '../../store/ports/heartbeats.ts';
import type { KeyStore } from '../../store/ports/keys.ts';
import type { OwnershipStore } from '../../store/ports/ownership.ts';
import type { SampleStore } from '../../store/ports/samples.ts';
import type { ServiceStore } from '../../store/ports/services.ts';
import type { StatusStore } from '../../store/ports/status.ts';
import type { PageStore } from '../../store/ports/status-pages.ts';
import type { WebhookStore } from '../../store/ports/webhooks.ts';
import type { ApiLimits } from '../../view/monitor.ts';
import type { ServiceDirectory } from '../../view/service-directory.ts';
import type { SignInSources, Visitor } from './sign-in-pages.ts';

/** What the dashboard reads and changes. */
export interface DashboardSources extends Omit<SignInSources, 'registry'> {
  readonly registry: AccountStore &
    KeyStore &
    Omit<ServiceStore, 'watchChanges'> &
    OwnershipStore &
    HeartbeatStore &
    WebhookStore &
    PageStore;
  readonly directory: ServiceDirectory;
  readonly status: Pick<StatusStore, 'get'>;
  readonly samples: Pick<SampleStore, 'newest'>;
  readonly clock: Clock;
  readonly proofs: DomainProofs;
  readonly limits: () => ApiLimits;
}

/** Shows a page of the account, or what keeps a form from being taken. */
export type ShowPage = (template: string, data: object, session: Visitor, status?: number) => HttpResponse;

/** What the changes that an owner makes by forms need (`src/app/`). */
export function changeContext({ registry, directory, proofs, now }: DashboardSources) {
  return { registry, proofs, now, findService: directory.bySlug, resolve: proofs.addresses };
}

/** The owner who is signed in. */
export function ownerOf({ accountId }: Visitor) {
  return { role: 'owner', accountId } as const;
}
