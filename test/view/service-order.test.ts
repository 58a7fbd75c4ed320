/** The orders of the list of services. */
import fc from 'fast-check';
import t from 'tap';
import type { CurrentStatus } from '../../src/domain/status/current.ts';
import {
  countBefore,
  followsChecks,
  placeAt,
  placeTypes,
  SERVICE_SORTS,
  sortServices,
} from '../../src/view/service-order.ts';
import { check, current, service } from '../site/site-world.ts';

const SERVICES = ['a', 'b', 'c', 'd'].map((slug, index) =>
  service(index + 1, slug, { name: ['Zoe', 'ada', 'Bob', 'bob'][index] ?? '' }),
);
const CURRENT = new Map<number, CurrentStatus>([
  [1, current(1, check(1, { status: 'up', responseTimeMs: 50 }))],
  [2, current(2, check(1, { status: 'down', responseTimeMs: null }))],
  [3, current(3, check(1, { status: 'slow', responseTimeMs: 9 }))],
]);
const SOURCES = {
  current: ({ id }: { readonly id: number }) => CURRENT.get(id) ?? null,
  foldedName: ({ name }: { readonly name: string }) => name.toLowerCase(),
};

t.test('what has no value is last both ways, and equal keys follow by slug', async (t) => {
  const orders = {
    slug: 'abcd',
    '-slug': 'dcba',
    name: 'bcda',
    '-name': 'acdb',
    status: 'bcad',
    '-status': 'acbd',
    response_time: 'cabd',
    '-response_time': 'acbd',
  };
  for (const sort of SERVICE_SORTS)
    t.equal(
      sortServices(SERVICES, sort, SOURCES)
        .services.map(({ slug }) => slug)
        .join(''),
      orders[sort],
      sort,
    );
});

t.test('it counts what is before a place, in every order and for places that are no more', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SERVICE_SORTS),
      fc.nat({ max: 3 }),
      fc.nat({ max: 3 }),
      (sort, at, gone) => {
        const list = sortServices(SERVICES, sort, SOURCES);
        const place = placeAt(list, at);
        if (place === null) return false;
        if (countBefore(list, sort, place, false) !== at || countBefore(list, sort, place, true) !== at + 1)
          return false;
        const left = sortServices(SERVICES.toSpliced(gone, 1), sort, SOURCES);
        const before = list.services.slice(0, at).filter((one) => left.services.includes(one)).length;
        return countBefore(left, sort, place, false) === before;
      },
    ),
  );
});

t.test('places have texts or numbers, and orders by numbers follow checks', async (t) => {
  t.same(placeTypes('-name'), ['string', 'string']);
  t.same(placeTypes('status'), ['number', 'string']);
  t.same(SERVICE_SORTS.filter(followsChecks), ['status', '-status', 'response_time', '-response_time']);
  t.equal(placeAt(sortServices(SERVICES, 'slug', SOURCES), 4), null);
});
