/** The plan of `apply`: what to create, change and remove so that an account has what a document lists. */

/** A value in a document; undefined: the member is absent. */
export type MemberValue = string | number | boolean | readonly MemberValue[] | MemberGroup | undefined;

interface MemberGroup {
  readonly [name: string]: MemberValue;
}

/** The types of an account's content, in the order of a plan. */
export const CONTENT_TYPES = ['service', 'page', 'channel', 'rule', 'maintenance'] as const;

/** A thing that an account can have. */
export type ContentType = (typeof CONTENT_TYPES)[number];

/** A service, a status page, a channel, a rule or a maintenance, as it is or as it is wanted. */
export interface ContentItem {
  readonly type: ContentType;
  /** The domain of the first service of a host or the slug of another one, the slug of a page, the name of a channel or rule, or the title of a maintenance. */
  readonly key: string;
  readonly document: object;
  /** Secrets by their paths; plans compare them and never show them. */
  readonly secrets: Readonly<Record<string, MemberValue>>;
}

export interface MemberChange {
  /** Path of the member, such as `check.settings.port`. */
  readonly field: string;
  /** Absent: the member was absent, or is a secret. */
  readonly before?: MemberValue;
  /** Absent: the member will be absent, or is a secret. */
  readonly after?: MemberValue;
  readonly secret?: true;
}

export interface PlannedChange {
  readonly action: 'create' | 'change' | 'remove';
  readonly type: ContentType;
  readonly key: string;
  /** Its path in the document, such as `services.3`; null: it is not listed. */
  readonly path: string | null;
  /** Members with their new values; of a removed service or page: none. */
  readonly members: readonly MemberChange[];
}

export interface Plan {
  /** Services before pages, each in the order of the document; removals come last, by their keys. */
  readonly changes: readonly PlannedChange[];
  /** Number of listed services and pages that are as wanted. */
  readonly unchanged: number;
}

/** The content that an account should have. */
interface WantedItems {
  readonly items: readonly ContentItem[];
  /** The path of an item in the document. */
  readonly pathOf: (type: ContentType, key: string) => string | null;
}

/** Compares what an account has with what it wants. What is not wanted is removed if its type is one of `prunes`. */
export function makePlan(
  present: readonly ContentItem[],
  { items: wanted, pathOf }: WantedItems,
  prunes: ReadonlySet<ContentType>,
): Plan {
  const known = new Map(present.map((item) => [idOf(item), item]));
  const kept = new Set(wanted.map(idOf));
  const changes: PlannedChange[] = [];
  let unchanged = 0;
  for (const item of wanted) {
    const { type, key } = item;
    const path = pathOf(type, key);
    const before = known.get(idOf(item)) ?? null;
    const members = compareMembers(before, item);
    if (before === null) changes.push({ action: 'create', type, key, path, members });
    else if (members.length > 0) changes.push({ action: 'change', type, key, path, members });
    else unchanged++;
  }
  const removed = present
    .filter((item) => prunes.has(item.type) && !kept.has(idOf(item)))
    .map(({ type, key }): PlannedChange => ({ action: 'remove', type, key, path: null, members: [] }))
    .sort((a, b) => (a.type === b.type ? (a.key < b.key ? -1 : 1) : orderOf(a) - orderOf(b)));
  return { changes: [...changes, ...removed], unchanged };
}

function orderOf({ type }: Pick<ContentItem, 'type'>): number {
  return CONTENT_TYPES.indexOf(type);
}

function idOf({ type, key }: ContentItem): string {
  return `${type} ${key}`;
}

function compareMembers(before: ContentItem | null, after: ContentItem): MemberChange[] {
  const [old, wanted] = [flatten(before?.document ?? {}), flatten(after.document)];
  const changes = [...new Set([...wanted.keys(), ...old.keys()])].flatMap((field): MemberChange[] => {
    const [one, other] = [old.get(field), wanted.get(field)];
    if (isSame(one, other)) return [];
    return [
      {
        field,
        ...(one === undefined ? {} : { before: one }),
        ...(other === undefined ? {} : { after: other }),
      },
    ];
  });
  const secrets = new Set([...Object.keys(after.secrets), ...Object.keys(before?.secrets ?? {})]);
  for (const field of secrets)
    if (!isSame(before?.secrets[field], after.secrets[field])) changes.push({ field, secret: true });
  return changes;
}

/** The members of a document by their paths. Lists are values; empty groups have no members. */
function flatten(document: object, parent = ''): Map<string, MemberValue> {
  const members = new Map<string, MemberValue>();
  for (const [name, value] of Object.entries<MemberValue>({ ...document })) {
    const field = `${parent}${name}`;
    if (!isGroup(value)) members.set(field, value);
    else for (const [below, one] of flatten(value, `${field}.`)) members.set(below, one);
  }
  return members;
}

function isGroup(value: MemberValue): value is MemberGroup {
  return typeof value === 'object' && !Array.isArray(value);
}

function isSame(one: MemberValue, other: MemberValue): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
