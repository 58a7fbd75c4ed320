/** What an owner may write on a page, and how its list is arranged. */
import fc from 'fast-check';
import t from 'tap';
import {
  arrangePage,
  countServices,
  PAGE_BOUNDS,
  type PageGroup,
  type PageStep,
  readGroupName,
  readPageSlug,
  readPageText,
  readPageTitle,
} from '../../src/domain/status-page.ts';

t.test('it accepts plain slugs, and refuses reserved ones', async (t) => {
  const table: readonly (readonly [string, string | null])[] = [
    ['acme', 'acme'],
    [' Acme-Shop-2 ', 'acme-shop-2'],
    ['abc', 'abc'],
    ['ab', null],
    ['a'.repeat(60), 'a'.repeat(60)],
    ['a'.repeat(61), null],
    ['-acme', null],
    ['acme-', null],
    ['ac--me', null],
    ['ac.me', null],
    ['ac_me', null],
    ['äcme', null],
    ['ac me', null],
    ['acme/embed', null],
    ['', null],
    ['admin', null],
    ['API', null],
    ['status', null],
    ['new', null],
    ['statuses', 'statuses'],
  ];
  for (const [text, expected] of table) {
    const reading = readPageSlug(text);
    t.equal(reading.ok ? reading.value : null, expected, text);
  }
});

t.test('it accepts titles, texts and names of groups within their bounds', async (t) => {
  const table: readonly (readonly [
    (text: string) => { ok: boolean; value?: string },
    string,
    string | null,
  ])[] = [
    [readPageTitle, '  Our\n services ', 'Our services'],
    [readPageTitle, ' \n ', null],
    [readPageTitle, 'x'.repeat(120), 'x'.repeat(120)],
    [readPageTitle, 'x'.repeat(121), null],
    [readPageTitle, '😀'.repeat(120), '😀'.repeat(120)],
    [readPageTitle, 'a\u202eb', null],
    [readPageTitle, 'a\u0007b', null],
    [readPageTitle, 'a\u0378b', null],
    [readPageText, 'a\u2066b', null],
    [readPageText, 'a\u001b]52;c;eA==', null],
    [readGroupName, 'a\u200fb', null],
    [readPageText, '', ''],
    [readPageText, ' one\r\ntwo\rthree ', 'one\ntwo\nthree'],
    [readPageText, 'x'.repeat(1_000), 'x'.repeat(1_000)],
    [readPageText, 'x'.repeat(1_001), null],
    [readGroupName, '', ''],
    [readGroupName, 'x'.repeat(80), 'x'.repeat(80)],
    [readGroupName, 'x'.repeat(81), null],
  ];
  for (const [read, text, expected] of table) {
    const reading = read(text);
    t.equal(reading.value ?? null, expected, `${read.name} ${JSON.stringify(text.slice(0, 20))}`);
  }
});

const GROUPS: readonly PageGroup[] = [
  { name: 'Web', services: [1, 2] },
  { name: 'Mail', services: [3] },
];

t.test('it arranges the list step by step', async (t) => {
  const table: readonly (readonly [string, PageStep, readonly PageGroup[]])[] = [
    [
      'adds at the end of a group',
      { kind: 'add_service', serviceId: 9, group: 0 },
      [{ name: 'Web', services: [1, 2, 9] }, GROUPS[1] as PageGroup],
    ],
    [
      'removes',
      { kind: 'remove_service', serviceId: 1 },
      [{ name: 'Web', services: [2] }, GROUPS[1] as PageGroup],
    ],
    [
      'moves up',
      { kind: 'move_service', serviceId: 2, by: -1 },
      [{ name: 'Web', services: [2, 1] }, GROUPS[1] as PageGroup],
    ],
    [
      'moves over the edge into the next group',
      { kind: 'move_service', serviceId: 2, by: 1 },
      [
        { name: 'Web', services: [1] },
        { name: 'Mail', services: [2, 3] },
      ],
    ],
    [
      'moves over the edge into the group before',
      { kind: 'move_service', serviceId: 3, by: -1 },
      [
        { name: 'Web', services: [1, 2, 3] },
        { name: 'Mail', services: [] },
      ],
    ],
    ['does not move the first one up', { kind: 'move_service', serviceId: 1, by: -1 }, GROUPS],
    ['does not move the last one down', { kind: 'move_service', serviceId: 3, by: 1 }, GROUPS],
    ['does not move what is not there', { kind: 'move_service', serviceId: 8, by: 1 }, GROUPS],
    ['adds a group', { kind: 'add_group', name: 'New' }, [...GROUPS, { name: 'New', services: [] }]],
    [
      'renames a group',
      { kind: 'rename_group', group: 1, name: 'Post' },
      [GROUPS[0] as PageGroup, { name: 'Post', services: [3] }],
    ],
    ['moves a group', { kind: 'move_group', group: 1, by: -1 }, [...GROUPS].reverse()],
    ['does not move a group over the edge', { kind: 'move_group', group: 1, by: 1 }, GROUPS],
    ['removes a group', { kind: 'remove_group', group: 0 }, [GROUPS[1] as PageGroup]],
  ];
  for (const [said, step, groups] of table) t.same(arrangePage(GROUPS, step), { ok: true, groups }, said);
  t.same(arrangePage([], { kind: 'add_service', serviceId: 1, group: 0 }), {
    ok: true,
    groups: [{ name: '', services: [1] }],
  });
});

t.test('it refuses a service twice, and more than the bounds', async (t) => {
  t.match(arrangePage(GROUPS, { kind: 'add_service', serviceId: 3, group: 0 }), { ok: false });
  const full = [{ name: '', services: Array.from({ length: 100 }, (_, id) => id + 1) }];
  t.match(arrangePage(full, { kind: 'add_service', serviceId: 101, group: 0 }), {
    ok: false,
    problem: { code: 'page_services_full', max: 100 },
  });
  const many = Array.from({ length: 20 }, () => ({ name: '', services: [] }));
  t.match(arrangePage(many, { kind: 'add_group', name: 'x' }), {
    ok: false,
    problem: { code: 'page_groups_full', max: 20 },
  });
});

t.test('no sequence of steps duplicates, loses or invents a service', async () => {
  const by = fc.constantFrom<-1 | 1>(-1, 1);
  const serviceId = fc.integer({ min: 1, max: 12 });
  const group = fc.integer({ min: -2, max: 25 });
  const steps: fc.Arbitrary<PageStep>[] = [
    fc.record({ kind: fc.constant('add_service' as const), serviceId, group }),
    fc.record({ kind: fc.constant('remove_service' as const), serviceId }),
    fc.record({ kind: fc.constant('move_service' as const), serviceId, by }),
    fc.record({ kind: fc.constant('add_group' as const), name: fc.string() }),
    fc.record({ kind: fc.constant('rename_group' as const), group, name: fc.string() }),
    fc.record({ kind: fc.constant('move_group' as const), group, by }),
    fc.record({ kind: fc.constant('remove_group' as const), group }),
  ];
  fc.assert(
    fc.property(fc.array(fc.oneof(...steps), { maxLength: 60 }), (list) => {
      let groups: readonly PageGroup[] = [];
      for (const step of list) {
        const before = groups.flatMap(({ services }) => services);
        const outcome = arrangePage(groups, step);
        if (outcome.ok) groups = outcome.groups;
        const after = groups.flatMap(({ services }) => services);
        if (new Set(after).size !== after.length) return false;
        if (groups.length > PAGE_BOUNDS.groups || countServices(groups) > PAGE_BOUNDS.services) return false;
        const only =
          step.kind.startsWith('move') || step.kind === 'rename_group' || step.kind === 'add_group';
        if (only && [...before].sort().join() !== [...after].sort().join()) return false;
      }
      return true;
    }),
  );
});
