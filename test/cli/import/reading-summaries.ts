/** What an import read, in short forms to compare. */
import type { ListedItem } from '../../../src/cli/import/listed-content.ts';
import type { ListedService } from '../../../src/cli/import/listed-service.ts';

/** The names, kinds, hosts and settings of services. */
export function summaryOf(services: readonly ListedService[]) {
  return services.map(({ name, kind, domain, url, settings }) => [name, kind, url ?? domain, settings]);
}

export function listsOf(items: readonly ListedItem[]) {
  const names = { service: ({ name }: ListedService) => name, has: () => true };
  return items.map((item) => [item.list, item.document(names)]);
}

export function reasonsOf(list: readonly { readonly entry: string; readonly field?: string }[]) {
  return list.map(({ entry, field }) => (field === undefined ? entry : `${entry}: ${field}`));
}
