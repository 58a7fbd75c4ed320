/** Which service of an account each entry of a document of `apply` stands for. */
import { DEFAULT_CHECK, furtherSlug, type Service } from '../domain/service.ts';
import { nameOnPage } from '../resources/kit/listed-services.ts';
import { isObject } from '../resources/kit/read-document.ts';

export interface PlacedEntry {
  /** The domain of the first service of a host, else the slug. */
  readonly key: string;
  /** The service of the account; null: it is new. */
  readonly before: Service | null;
  /** The slug of a new service; absent: that of its domain. */
  readonly slug?: string;
}

/** The members that place an entry, none of which was validated. */
interface Named {
  readonly domain: string;
  readonly slug: string | null;
  readonly name: string | null;
  /** Null: it says nothing of its check. */
  readonly kind: string | null;
}

/** The domain of a service that was not validated; empty: it has none. */
export function domainIn(one: unknown): string {
  return namesIn(one).domain;
}

function namesIn(one: unknown): Named {
  const { domain, slug, name, check }: Readonly<Record<string, unknown>> = Object(one);
  const { kind }: { readonly kind?: unknown } = Object(check);
  const textOf = (value: unknown) => (typeof value === 'string' ? value.trim() : null);
  return {
    domain: textOf(domain)?.toLowerCase() ?? '',
    slug: textOf(slug)?.toLowerCase() ?? null,
    name: textOf(name),
    kind: isObject(check) ? (textOf(kind) ?? DEFAULT_CHECK.kind) : null,
  };
}

/**
 * Places the entries of a list. One with a slug stands for the service that has it; the only other one of a host for the first
 * service there. Of several others, each stands for the service whose slug is that of its name or kind, and the first of the rest
 * for the first service of the host. `present`: the services of the account by their keys.
 */
export function placeServices(
  entries: readonly unknown[],
  present: ReadonlyMap<string, Service>,
): PlacedEntry[] {
  const bySlug = new Map([...present.values()].map((service) => [service.slug, service]));
  const named = entries.map(namesIn);
  const placed = named.map(({ slug }): PlacedEntry | null => {
    const before = slug === null ? null : (bySlug.get(slug) ?? null);
    if (slug === null) return null;
    return before === null ? { key: slug, before, slug } : { key: nameOnPage(before), before };
  });
  for (const domain of new Set(named.map((one) => one.domain))) placeOnHost(domain, named, placed, present);
  return placed.map((one, index) => one ?? { key: named[index]?.domain ?? '', before: null });
}

/** Places the entries of a host that have no slug, and makes one the first where the host has no service. */
function placeOnHost(
  domain: string,
  named: readonly Named[],
  placed: (PlacedEntry | null)[],
  present: ReadonlyMap<string, Service>,
): void {
  const first = present.get(domain) ?? null;
  const ofHost = named.flatMap((one, index) => (one.domain === domain ? [index] : []));
  const open = ofHost.filter((index) => placed[index] === null);
  const isPlaced = (service: Service) => placed.some((one) => one?.before === service);
  if (open.length === 0) {
    const [head = 0] = ofHost;
    const one = placed[head] ?? null;
    if (first !== null || one === null || one.before !== null) return;
    for (const index of ofHost) if (placed[index]?.slug === one.slug) placed[index] = { ...one, key: domain };
    return;
  }
  const slugs = new Map(open.map((index) => [index, slugOf(named[index])]));
  if (open.length > 1)
    for (const [index, slug] of slugs) {
      const before = slug === null ? undefined : present.get(slug);
      if (before?.domain === domain && before !== first && !isPlaced(before))
        placed[index] = { key: nameOnPage(before), before };
    }
  const rest = open.filter((index) => placed[index] === null);
  const takesFirst = first === null || !isPlaced(first) ? rest[0] : undefined;
  const bySlug = new Map<string, PlacedEntry>();
  for (const index of rest) {
    const slug = slugs.get(index) ?? null;
    const same = slug === null ? undefined : bySlug.get(slug);
    // An entry that says the same as another one is that once more.
    const one =
      same ??
      (index === takesFirst || slug === null
        ? { key: domain, before: first }
        : { key: slug, before: present.get(slug) ?? null, slug });
    placed[index] = one;
    if (slug !== null) bySlug.set(slug, one);
  }
}

/** The slug that follows from name or kind; null: the entry says nothing of its check, so that it is that of the domain. */
function slugOf(one: Named | undefined): string | null {
  if (one === undefined || one.kind === null) return null;
  const { domain, name, kind } = one;
  // The kind is a word of the slug, whether it is valid or not.
  const check = { ...DEFAULT_CHECK, kind: kind as typeof DEFAULT_CHECK.kind };
  return furtherSlug({ domain, name: name ?? domain, check });
}
