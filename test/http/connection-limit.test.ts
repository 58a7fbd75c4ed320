/** How many connections the server may hold. */
import t from 'tap';
import { connectionLimitOf } from '../../src/http/connection-limit.ts';

t.test('clients may take three quarters of the open files', async (t) => {
  const limits = (files: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             95870                95870                processes
Max open files            ${files}                 524288               files
Max locked memory         8388608              8388608              bytes
`;
  t.equal(connectionLimitOf(limits('1024')), 768);
  t.equal(connectionLimitOf(limits('unlimited')), Number.POSITIVE_INFINITY);
  t.equal(connectionLimitOf(''), Number.POSITIVE_INFINITY);
});
