/** What a service depends on: circles and ancestors. */
import t from 'tap';
import { ancestorsOf, findCircle } from '../../src/domain/service-parents.ts';

const graph = (edges: Readonly<Record<string, string>>) => (name: string) => [...(edges[name] ?? '')];

t.test('it finds the shortest circle through a service, and none that it only leads to', async (t) => {
  t.equal(findCircle('a', graph({ a: 'b', b: 'c' })), null);
  t.same(findCircle('a', graph({ a: 'a' })), ['a', 'a']);
  t.same(findCircle('a', graph({ a: 'bc', b: 'd', c: 'a', d: 'a' })), ['a', 'c', 'a']);
  t.equal(findCircle('a', graph({ a: 'b', b: 'c', c: 'b' })), null, 'a circle of others');
});

t.test('it gives all ancestors once, the nearest first, and ends where a circle closes', async (t) => {
  const ids = [...'abcde'];
  const edges: Readonly<Record<string, string>> = { a: 'bc', b: 'd', c: 'd', d: 'a', e: 'xa' };
  const bySlug = (slug: string) =>
    ids.includes(slug) ? { id: ids.indexOf(slug), dependsOn: [...(edges[slug] ?? '')] } : null;
  const namesOf = (slug: string) => {
    const service = bySlug(slug);
    return service === null ? [] : ancestorsOf(service, bySlug).map(({ id }) => ids[id]);
  };
  t.same(namesOf('a'), ['b', 'c', 'd']);
  t.same(namesOf('e'), ['a', 'b', 'c', 'd'], 'x is no service');
  t.same(ancestorsOf<{ id: number; dependsOn?: readonly string[] }>({ id: 7 }, bySlug), []);
});

t.test('it follows at most a hundred ancestors', async (t) => {
  const bySlug = (slug: string) => ({ id: Number(slug), dependsOn: [String(Number(slug) + 1)] });
  t.equal(ancestorsOf(bySlug('0'), bySlug).length, 100);
});
