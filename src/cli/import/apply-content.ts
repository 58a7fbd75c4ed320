/** Applies what an import file lists, without what is refused or there already in another form. */
import { type ApplyContext, applyDocument } from '../../apply/apply.ts';
import { LISTS, type ListName } from '../../apply/apply-lists.ts';
import type { Plan } from '../../apply/apply-plan.ts';
import { describeRefusal } from '../../domain/refusal.ts';
import { OPERATOR } from '../outcome.ts';
import type { ListedItem, NotCarried } from './listed-content.ts';
import type { ListedService, SkippedEntry } from './listed-service.ts';

/** A member of a list of a document of `apply`. */
interface Member {
  readonly list: ListName;
  readonly entry: string;
  readonly item: ListedItem | null;
  readonly document: object;
}

export interface AppliedContent {
  readonly plan: Plan;
  readonly skipped: readonly SkippedEntry[];
  readonly notCarried: readonly NotCarried[];
}

/** Members without which the rest is worth having. */
const DISPENSABLE: ReadonlySet<string> = new Set(['logo', 'custom_domain', 'text']);

/** Each list after those that its members name. */
const LISTS_IN_ORDER: readonly ListName[] = ['services', 'channels', 'pages', 'rules', 'maintenances'];

/** Maximum number of documents that are tried; each leaves out what the one before was refused for. */
const MAX_ROUNDS = 20;

/**
 * Creates the members of the lists. What the account has already stays as it is. `services`: documents of services, for a dry run.
 * `nameOf`: the name of a service in documents; null: it is left out.
 */
export async function applyContent(
  context: ApplyContext,
  accountId: number,
  items: readonly ListedItem[],
  {
    services,
    nameOf,
    dryRun,
  }: {
    readonly services: readonly { readonly service: ListedService; readonly document: object }[];
    readonly nameOf: (service: ListedService) => string | null;
    readonly dryRun: boolean;
  },
): Promise<AppliedContent> {
  const skipped: SkippedEntry[] = [];
  const notCarried: NotCarried[] = [];
  const refused = new Set<ListedService>();
  const without = new Map<ListedItem, Set<string>>();
  let listed = services;
  let kept = items;
  const run = async (members: readonly Member[], isDry: boolean) => {
    const lists = Object.groupBy(members, ({ list }) => list);
    const document = Object.fromEntries(
      LISTS.flatMap((list) =>
        lists[list] === undefined ? [] : [[list, lists[list].map((one) => one.document)]],
      ),
    );
    const options = { dryRun: isDry, prune: false };
    const outcome = await applyDocument(context, { ...OPERATOR, accountId }, document, options);
    const at = (path: string | null): Member | undefined => {
      const [list = '', index = ''] = path?.split('.', 2) ?? [];
      return lists[list as ListName]?.[Number(index)];
    };
    return { outcome, at };
  };
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const members: Member[] = [
      ...listed.map(
        ({ service, document }): Member => ({ list: 'services', entry: service.name, item: null, document }),
      ),
      ...membersOf(
        kept,
        without,
        (service) => (refused.has(service) ? null : nameOf(service)),
        (member) => skipped.push(member),
      ),
    ];
    kept = members.flatMap(({ item }) => item ?? []);
    if (members.length === 0) return { plan: { changes: [], unchanged: 0 }, skipped, notCarried };
    const { outcome, at } = await run(members, true);
    const left = new Map<Member, string>();
    if (outcome.ok) {
      for (const { action, path, members: differing } of outcome.value.changes) {
        const member = at(path);
        if (action !== 'change' || member === undefined) continue;
        const fields = [...new Set(differing.map(({ field }) => field))].join(', ');
        left.set(member, `it is there already, with another ${fields}; it stays as it is`);
      }
      if (left.size === 0) {
        const made = dryRun ? outcome : (await run(members, false)).outcome;
        if (made.ok) return { plan: made.value, skipped, notCarried };
        throw new Error(made.refusals.map(({ refusal }) => describeRefusal(refusal)).join(' '));
      }
    } else {
      // What names something that is refused may be well without it.
      const first = LISTS_IN_ORDER.find((list) =>
        outcome.refusals.some(({ field }) => at(field)?.list === list),
      );
      for (const { field, refusal } of outcome.refusals) {
        const member = at(field);
        if (member === undefined) throw new Error(describeRefusal(refusal));
        if (member.list !== first) continue;
        const part = field?.split('.', 3)[2] ?? '';
        if (member.item !== null && DISPENSABLE.has(part)) {
          without.set(member.item, (without.get(member.item) ?? new Set()).add(part));
          notCarried.push({ entry: member.entry, field: part, reason: describeRefusal(refusal) });
        } else if (!left.has(member)) left.set(member, describeRefusal(refusal));
      }
    }
    for (const [{ entry }, reason] of left) skipped.push({ entry, reason });
    const isLeft = new Set([...left.keys()].map((member) => member.document));
    const gone = new Set([...left.keys()].flatMap(({ item }) => item ?? []));
    for (const { service, document } of listed) if (isLeft.has(document)) refused.add(service);
    listed = listed.filter(({ document }) => !isLeft.has(document));
    kept = kept.filter((item) => !gone.has(item));
  }
  throw new Error('the import was refused again and again');
}

/** The documents of what is left. Those that are about nothing are skipped, and so is what needs them. */
function membersOf(
  items: readonly ListedItem[],
  without: ReadonlyMap<ListedItem, ReadonlySet<string>>,
  service: (service: ListedService) => string | null,
  skip: (entry: SkippedEntry) => void,
): Member[] {
  const names = new Set(items.map(({ list, entry }) => `${list} ${entry}`));
  const has = (list: ListName, entry: string) => names.has(`${list} ${entry}`);
  return items.flatMap((item): Member[] => {
    const document = item.document({ service, has });
    const parts = Object.entries(document ?? {}).filter(([name]) => without.get(item)?.has(name) !== true);
    if (document !== null)
      return [{ list: item.list, entry: item.entry, item, document: Object.fromEntries(parts) }];
    skip({ entry: item.entry, reason: 'nothing that it is about is imported' });
    return [];
  });
}
