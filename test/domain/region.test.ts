/** Names of regions, and the fact with those of samples. */
import t from 'tap';
import { formatSampleRegions, isRegionName, parseSampleRegions } from '../../src/domain/region.ts';

t.test('a name has up to 32 letters, digits and dashes', async (t) => {
  for (const name of ['eu', 'eu-1', '-', 'x'.repeat(32)]) t.ok(isRegionName(name), name);
  for (const name of ['', 'EU', 'a b', 'ä', 'x'.repeat(33)]) t.notOk(isRegionName(name), name);
});

t.test('the regions of samples are read in their order, and what is no name is left out', async (t) => {
  t.same(parseSampleRegions(formatSampleRegions(['us', 'eu'])), ['us', 'eu']);
  t.same(parseSampleRegions('us  EU eu'), ['us', 'eu']);
  for (const nothing of [null, '']) t.same(parseSampleRegions(nothing), []);
});
