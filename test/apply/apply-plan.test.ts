/** Plans of `apply`: what is created, changed and removed. */
import t from 'tap';
import { type ContentItem, type ContentType, makePlan, type Plan } from '../../src/apply/apply-plan.ts';

const item = (type: ContentType, key: string, document: object = {}, secrets = {}): ContentItem => ({
  type,
  key,
  document,
  secrets,
});
const service = (key: string, document: object = {}, secrets = {}) => item('service', key, document, secrets);

const NONE: readonly ContentType[] = [];
const BOTH: readonly ContentType[] = ['service', 'page'];

t.test('it plans what the document wants', async (t) => {
  const cases: readonly [
    title: string,
    present: readonly ContentItem[],
    wanted: readonly ContentItem[],
    prunes: readonly ContentType[],
    plan: Plan,
  ][] = [
    ['nothing', [], [], BOTH, { changes: [], unchanged: 0 }],
    [
      'the same',
      [service('a', { name: 'A', check: { kind: 'http', accept: ['2xx'], settings: { port: 443 } } })],
      [service('a', { check: { settings: { port: 443 }, accept: ['2xx'], kind: 'http' }, name: 'A' })],
      BOTH,
      { changes: [], unchanged: 1 },
    ],
    [
      'a new service',
      [],
      [service('a', { name: 'A', check: { kind: 'tcp', settings: { port: 443 } } })],
      NONE,
      {
        changes: [
          {
            ...{ action: 'create', type: 'service', key: 'a', path: 'service a' },
            members: [
              { field: 'name', after: 'A' },
              { field: 'check.kind', after: 'tcp' },
              { field: 'check.settings.port', after: 443 },
            ],
          },
        ],
        unchanged: 0,
      },
    ],
    [
      'other members, absent ones, and lists as a whole',
      [service('a', { name: 'A', paused: true, check: { accept: ['2xx', 401], settings: { port: 1 } } })],
      [service('a', { name: 'B', check: { accept: ['2xx'], settings: { path: '/' } } })],
      NONE,
      {
        changes: [
          {
            ...{ action: 'change', type: 'service', key: 'a', path: 'service a' },
            members: [
              { field: 'name', before: 'A', after: 'B' },
              { field: 'check.accept', before: ['2xx', 401], after: ['2xx'] },
              { field: 'check.settings.path', after: '/' },
              { field: 'paused', before: true },
              { field: 'check.settings.port', before: 1 },
            ],
          },
        ],
        unchanged: 0,
      },
    ],
    [
      'secrets that are new, other, removed and the same',
      [service('a', {}, { 's.b': 'stored', 's.c': 'stored', 's.d': 'stored' })],
      [service('a', {}, { 's.a': 'new', 's.b': 'new', 's.d': 'stored' })],
      NONE,
      {
        changes: [
          {
            ...{ action: 'change', type: 'service', key: 'a', path: 'service a' },
            members: [
              { field: 's.a', secret: true },
              { field: 's.b', secret: true },
              { field: 's.c', secret: true },
            ],
          },
        ],
        unchanged: 0,
      },
    ],
    [
      'nothing that is not listed, unless it prunes',
      [service('a'), service('b'), item('page', 'a')],
      [service('b')],
      NONE,
      { changes: [], unchanged: 1 },
    ],
    [
      'removals at the end, and only of the types that it prunes',
      [item('page', 'p'), service('z'), service('a'), service('b')],
      [service('b'), service('c')],
      ['service'],
      {
        changes: [
          { action: 'create', type: 'service', key: 'c', path: 'service c', members: [] },
          { action: 'remove', type: 'service', key: 'a', path: null, members: [] },
          { action: 'remove', type: 'service', key: 'z', path: null, members: [] },
        ],
        unchanged: 1,
      },
    ],
    [
      'a page and a service of one name',
      [item('page', 'a'), service('a')],
      [service('a')],
      BOTH,
      { changes: [{ action: 'remove', type: 'page', key: 'a', path: null, members: [] }], unchanged: 1 },
    ],
  ];
  for (const [title, present, items, prunes, plan] of cases) {
    const wanted = { items, pathOf: (type: ContentType, key: string) => `${type} ${key}` };
    t.strictSame(makePlan(present, wanted, new Set(prunes)), plan, title);
  }
});
