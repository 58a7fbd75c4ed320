/** The record of a node, as it is written and as it is read. */
import fc from 'fast-check';
import t from 'tap';
import { formatNode, parseNode } from '../../src/cluster/node-record.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { RECORD } from './node-records.ts';

const INSTANCE = '00000000-0000-4000-8000-000000000001';

t.test('it reads what it writes', async (t) => {
  t.same(parseNode('a', formatNode({ instance: INSTANCE, record: RECORD })), {
    instance: INSTANCE,
    record: RECORD,
  });
  t.same(parseNode('a', formatNode({ instance: INSTANCE, record: null })), {
    instance: INSTANCE,
    record: null,
  });
});

t.test('it reads records of other versions and of strangers', async (t) => {
  const { record } = parseNode('a', `${INSTANCE}{"region":"eu","roles":["probe","paint"],"more":1}`);
  t.match(record, { name: 'a', region: 'eu', roles: ['probe'], online: true, offlineSince: null, pid: 0 });
  t.equal(record?.reachesRegistry, true, 'an older version does not write it');
  const values = fc.oneof(fc.string(), fc.json());
  fc.assert(
    fc.property(values, (value) => {
      const { record } = parseNode('a', INSTANCE + value);
      return record === null || (record.name === 'a' && typeof record.pid === 'number');
    }),
    { numRuns: propertyRuns(20) },
  );
});
