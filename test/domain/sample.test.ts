/** What a bucket of samples says of its time. */
import t from 'tap';
import { dayKindOf, SLOW_DAY_SHARE, uptimeOf } from '../../src/domain/sample.ts';

const bucket = (count: number, downCount = 0, slowCount = 0, suspectCount = 0) => ({
  ...{ count, downCount, slowCount, suspectCount },
});

t.test('a day is down by one check, slow by more than a share, and nothing without checks', async (t) => {
  t.equal(dayKindOf(bucket(0)), 'none');
  t.equal(dayKindOf(bucket(0, 0, 0, 3)), 'suspect');
  t.equal(dayKindOf(bucket(1_000, 1, 900)), 'down');
  t.equal(dayKindOf(bucket(100, 0, 100 * SLOW_DAY_SHARE)), 'up');
  t.equal(dayKindOf(bucket(100, 0, 100 * SLOW_DAY_SHARE + 1)), 'slow');
  t.equal(dayKindOf(bucket(1, 0, 0, 99)), 'up', 'suspect checks count for nothing beside others');
});

t.test('uptime is that of all checks, whatever their buckets', async (t) => {
  t.equal(uptimeOf([]), null);
  t.equal(uptimeOf([bucket(0, 0, 0, 5)]), null);
  t.equal(uptimeOf([bucket(1, 1), bucket(3)]), 0.75);
});
