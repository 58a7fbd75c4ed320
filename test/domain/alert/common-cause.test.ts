/** The common cause of several failures. */
import t from 'tap';
import type { CauseFacts } from '../../../src/domain/alert/alert-context.ts';
import { findCommonCause } from '../../../src/domain/alert/common-cause.ts';
import { AlertWorld, MINUTE } from './alert-world.ts';

const BEGAN = 1000;

/** Services 1, 2, ...: `more` of each, which fails if it is listed in `failing`. */
function causeOf(failing: number, all: readonly Partial<CauseFacts>[]) {
  const facts = all.map((more, index): CauseFacts => {
    const isDown = index < failing;
    return { serviceId: index + 1, status: isDown ? 'down' : 'up', checkedAt: BEGAN + 500, ...more };
  });
  const found = findCommonCause(
    new Map(facts.slice(0, failing).map(({ serviceId }) => [serviceId, BEGAN])),
    facts,
  );
  return found === null ? null : `${found.kind} ${found.name}`;
}

const at = (...addresses: string[]) => ({ addresses });
const needs = (name: string, fails = true) => ({ dependencies: [{ name, fails }] });
const by = (name: string, hasIncident = true) => ({ vendors: [{ name, hasIncident }] });
const has = (validUntil: string, fails = true) => ({ certificate: { validUntil, fails } });
const seen = (...failing: string[]) => ({
  regions: ['eu', 'us', 'asia'].map((name) => ({ name, fails: failing.includes(name) })),
});

t.test('it is named where it explains enough, and no service that is well has it', async (t) => {
  const table: readonly [
    name: string,
    failing: number,
    all: readonly Partial<CauseFacts>[],
    cause: string | null,
  ][] = [
    ['an address of both', 2, [at('192.0.2.1'), at('192.0.2.9', '192.0.2.1')], 'address 192.0.2.1'],
    ['no address of both', 2, [at('192.0.2.1'), at('192.0.2.2')], null],
    ['an address that is well elsewhere', 2, [at('192.0.2.1'), at('192.0.2.1'), at('192.0.2.1')], null],
    ['well before it began', 2, [at('a'), at('a'), { ...at('a'), checkedAt: BEGAN - 1 }], 'address a'],
    ['not known to be well', 2, [at('a'), at('a'), { ...at('a'), status: 'unknown' }], 'address a'],
    ['four of five', 5, [at('a'), at('a'), at('a'), at('a'), at('b')], 'address a'],
    ['three of four', 4, [at('a'), at('a'), at('a'), at('b')], null],
    ['one of two', 2, [at('a'), {}], null],
    ['a dependency', 2, [needs('postgres'), needs('postgres'), needs('redis', false)], 'dependency postgres'],
    ['a dependency that does not fail', 2, [needs('postgres', false), needs('postgres', false)], null],
    ['a dependency that another one is well with', 2, [needs('db'), needs('db'), needs('db')], null],
    ['a vendor with an incident', 2, [by('Cloud'), by('Cloud')], 'vendor Cloud'],
    ['a vendor without one', 2, [by('Cloud', false), by('Cloud', false)], null],
    ['a region', 2, [seen('eu'), seen('eu'), {}], 'region eu'],
    ['a region that another one is well in', 2, [seen('eu'), seen('eu'), seen()], null],
    ['everywhere is no region', 2, [seen('eu', 'us', 'asia'), seen('eu', 'us', 'asia')], null],
    ['a certificate', 2, [has('May'), has('May'), has('June', false)], 'certificate May'],
    ['a certificate that another one is well with', 2, [has('May'), has('May'), has('May', false)], null],
    ['a certificate that is not why', 2, [has('May', false), has('May', false)], null],
    [
      'the one that says more of two',
      2,
      [
        { ...at('a'), ...needs('db') },
        { ...at('a'), ...needs('db') },
      ],
      'dependency db',
    ],
    [
      'the one that explains more of two',
      5,
      [0, 1, 2, 3, 4].map((n) => ({ ...at('a'), ...(n < 4 ? needs('db') : {}) })),
      'address a',
    ],
  ];
  for (const [name, failing, all, cause] of table) t.equal(causeOf(failing, all), cause, name);
});

t.test('a message of several outages names it', async (t) => {
  const world = new AlertWorld();
  world.causes = [1, 2].map((serviceId) => ({ serviceId, status: 'down', checkedAt: 0, ...at('192.0.2.1') }));
  world.down(0, 1);
  world.down(0, 2);
  world.down(MINUTE, 3);
  world.pass(5 * MINUTE);
  t.same(
    world.sent.map(({ message }) => message.cause),
    [{ kind: 'address', name: '192.0.2.1' }, null],
  );
});
