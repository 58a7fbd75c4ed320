/** The revisions of what an account has, compared with those that the author of changes has seen. */
import { CHANNEL_CALLS } from '../../resources/channels/channel-rows.ts';
import { RULE_CALLS } from '../../resources/rules/rule-rows.ts';
import type { OpenRegistry } from '../database/registry-calls.ts';
import type { RefusedContent, SeenContent } from '../ports/account-content.ts';
import { ownerMaintenancesOf } from './pages/owner-maintenance-rows.ts';
import { pagesOf } from './pages/status-page-rows.ts';
import { ownedServices } from './services/owner-services.ts';

/** The revisions by key, slug, name or number. */
type Revisions = ReadonlyMap<string | number, number>;

/** The refusal of each change whose subject another one has changed, added or removed; runs inside the transaction of the changes. */
export async function refuseOvertaken(
  registry: OpenRegistry,
  accountId: number,
  seen: readonly SeenContent[],
): Promise<RefusedContent[]> {
  const refused: RefusedContent[] = [];
  for (const [type, { load, refusal }] of Object.entries(TYPES) as [SeenContent['type'], TypeRevisions][]) {
    const ofType = seen.filter((one) => one.type === type);
    if (ofType.length === 0) continue;
    const keys = ofType.map(({ key }) => key);
    const present = await load(registry, accountId, keys);
    for (const { key, id, revision } of ofType)
      if ((present.get(id ?? key) ?? null) !== revision) refused.push({ type, key, refusal: refusal(key) });
  }
  return refused;
}

interface TypeRevisions {
  readonly load: (registry: OpenRegistry, accountId: number, keys: readonly string[]) => Promise<Revisions>;
  readonly refusal: (key: string) => RefusedContent['refusal'];
}

const TYPES: Readonly<Record<SeenContent['type'], TypeRevisions>> = {
  service: {
    async load({ kysely, queries }, accountId, keys) {
      const rows = await queries.all(
        ownedServices(kysely)
          .select(['domain', 'slug', 'further', 'revision'])
          .where('account_id', '=', accountId)
          .where((eb) => eb.or([eb('domain', 'in', [...keys]), eb('slug', 'in', [...keys])])),
      );
      return new Map(
        rows.map(({ domain, slug, further, revision }) => [further === 1 ? slug : domain, revision]),
      );
    },
    refusal: () => ({ code: 'service_stale' }),
  },
  page: {
    load: async (registry, accountId) =>
      new Map((await pagesOf(registry, accountId)).map(({ slug, revision }) => [slug, revision])),
    refusal: () => ({ code: 'page_stale' }),
  },
  channel: {
    load: async (registry, accountId) => byName(await CHANNEL_CALLS.channelsOf.run(registry, accountId)),
    refusal: () => ({ code: 'channel_stale' }),
  },
  rule: {
    load: async (registry, accountId) => byName(await RULE_CALLS.rulesOf.run(registry, accountId)),
    refusal: () => ({ code: 'rule_stale' }),
  },
  maintenance: {
    load: async (registry, accountId) =>
      new Map((await ownerMaintenancesOf(registry, accountId)).map(({ id, revision }) => [id, revision])),
    refusal: () => ({ code: 'maintenance_stale' }),
  },
};

function byName(all: readonly { readonly name: string; readonly revision: number }[]): Revisions {
  return new Map(all.map(({ name, revision }) => [name, revision]));
}
