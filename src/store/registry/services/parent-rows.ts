/** Parents of services in the registry: names become slugs, circles are refused, and what goes is dropped. */
import { findCircle } from '../../../domain/service-parents.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { type Batch, type RegistryStore, statement } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';

type ServiceRow = Row<'services'>;

const FIND_NAMED: Batch<Pick<ServiceRow, 'slug'>> = {
  types: ['text', 'text', 'bigint', 'text'],
  sql: `SELECT slug FROM services
   WHERE (slug = ? OR domain = ?) AND removed = 0 AND (account_id = ? OR origin = 'catalogue')
   ORDER BY CASE WHEN slug = ? THEN 0 ELSE 1 END, origin DESC, further, slug`,
};
const CHILDREN_OF = statement<Pick<ServiceRow, 'slug' | 'depends_on'>>(
  'SELECT slug, depends_on FROM services WHERE account_id = ? AND depends_on IS NOT NULL AND removed = 0',
);
const ALL_CHILDREN = statement<ServiceRow>(
  'SELECT * FROM services WHERE depends_on IS NOT NULL AND removed = 0',
);

/**
 * The slugs of services of the account, or of the public list, that `names` has by slug or domain. Throws `no_parent` for a name
 * that stands for none.
 */
export async function findParents(
  { queries }: RegistryStore,
  accountId: number,
  names: readonly string[],
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const found = await queries.firstEach(
    FIND_NAMED,
    names.map((name) => [name, name, accountId, name]),
  );
  const parents = names.map((name, index) => {
    const parent = found[index]?.slug;
    if (parent === undefined) throw new RegistryError('no_parent', { code: 'no_parent', name });
    return parent;
  });
  return [...new Set(parents)];
}

/** Throws `parent_circle` if services of the account depend on themselves, directly or through others. */
export async function refuseCircles(
  { queries }: RegistryStore,
  accountId: number,
  slugs: readonly string[],
): Promise<void> {
  const rows = await queries.all(CHILDREN_OF(accountId));
  const known = new Map(rows.map((row) => [row.slug, parentsIn(row)]));
  for (const slug of slugs) {
    const circle = findCircle(slug, (one) => known.get(one) ?? []);
    if (circle !== null)
      throw new RegistryError('parent_circle', { code: 'parent_circle', circle: circle.join(' → ') });
  }
}

/** Children with what they depend on after services got another slug, or are none's parents any more (null). */
export async function childrenAfter(
  { queries }: RegistryStore,
  changes: ReadonlyMap<string, string | null>,
): Promise<{ readonly row: ServiceRow; readonly dependsOn: readonly string[] }[]> {
  if (changes.size === 0) return [];
  return (await queries.all(ALL_CHILDREN())).flatMap((row) => {
    const before = parentsIn(row);
    if (!before.some((slug) => changes.has(slug))) return [];
    const dependsOn = before.flatMap((slug) => {
      const after = changes.get(slug);
      return after === undefined ? [slug] : (after ?? []);
    });
    return [{ row, dependsOn }];
  });
}

function parentsIn({ depends_on: slugs }: Pick<ServiceRow, 'depends_on'>): readonly string[] {
  return slugs === null ? [] : JSON.parse(slugs);
}
