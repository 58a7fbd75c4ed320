/** What the program makes of the errors of PostgreSQL and of its driver. */
import t from 'tap';
import { addressOf } from '../../../../src/store/database/postgres/postgres-database.ts';
import {
  explainAtWork,
  explainPostgresError,
} from '../../../../src/store/database/postgres/postgres-error.ts';

const TARGET = addressOf('postgres://ada:p%40ss@db.example:5433/upbeat');
const errorOf = (code: string, message = 'the server says') => Object.assign(new Error(message), { code });

t.test('each error of the server has a code of ours, and says where', async (t) => {
  const table = [
    ['XX001', 'registry_damaged'],
    ['XX002', 'registry_damaged'],
    ['58P01', 'registry_damaged'],
    ['58030', 'registry_damaged'],
    ['53100', 'storage_full'],
    ['25006', 'storage_unreachable'],
    ['57P01', 'storage_unreachable'],
    ['53300', 'storage_unreachable'],
    ['53200', 'storage_unreachable'],
    ['57P04', 'storage_unreachable'],
    ['08006', 'storage_unreachable'],
    ['ECONNREFUSED', 'storage_unreachable'],
    ['55P03', 'storage_busy'],
    ['57014', 'storage_busy'],
    ['25P03', 'storage_busy'],
    ['28P01', 'registry_unusable'],
    ['28000', 'registry_unusable'],
    ['3D000', 'registry_unusable'],
    ['42501', 'registry_unusable'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'registry_unusable'],
  ] as const;
  for (const [given, code] of table) {
    const cause = errorOf(given);
    const error = explainPostgresError(cause, TARGET);
    t.match(error, { code, message: /db\.example/, cause }, given);
    t.notMatch(error.message, /p@ss|p%40ss/, 'without the password');
    t.equal(explainPostgresError(error, TARGET), error, 'it is explained once');
  }
  const closed = Object.assign(errorOf('55000', 'database "upbeat" is not currently accepting connections'), {
    severity: 'FATAL',
  });
  t.match(
    explainPostgresError(closed, TARGET),
    { code: 'storage_unreachable' },
    'a session that is refused for any other reason',
  );
  const bug = Object.assign(errorOf('23505'), { severity: 'ERROR' });
  t.equal(explainPostgresError(bug, TARGET), bug, 'a bug of ours stays what it is');
});

t.test('a server that refuses us at work is away, but for a right that is missing', async (t) => {
  for (const [given, code] of [
    ['28P01', 'storage_unreachable'],
    ['3D000', 'storage_unreachable'],
    ['42501', 'registry_unusable'],
    ['58030', 'registry_damaged'],
  ] as const)
    t.match(explainAtWork(errorOf(given), TARGET), { code }, given);
});
