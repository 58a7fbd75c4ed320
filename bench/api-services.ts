/** Services in any number, for benchmarks of what lists them. */
import { CATEGORIES } from '../src/domain/category.ts';
import { DEFAULT_CHECK, type Service } from '../src/domain/service.ts';

/** Makes `count` services of the public list, spread over all categories. */
export function makeServices(count: number): Service[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    slug: `service-${index}`,
    name: `Service ${index}`,
    domain: `service-${index}.example`,
    category: CATEGORIES[index % CATEGORIES.length] ?? 'developer',
    origin: 'catalogue',
    accountId: null,
    verified: true,
    paused: false,
    check: DEFAULT_CHECK,
    statusPage: null,
    revision: 1,
  }));
}
