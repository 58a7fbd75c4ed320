/** Rows of numbers in place of objects. */
import t from 'tap';
import {
  MEMORY_BITS,
  memoryFlags,
  packTiming,
  SOURCES,
  unpackMemory,
  unpackNullable,
  unpackTiming,
} from '../../src/domain/packed.ts';

t.test('NaN and what is missing stand for null', async (t) => {
  t.same([unpackNullable(Number.NaN), unpackNullable(undefined), unpackNullable(0)], [null, null, 0]);
});

t.test('each memory is read back from its flags, whichever bits they have', async (t) => {
  for (const bits of [MEMORY_BITS, { needsGet: 1, headSeen: 64, healthSeen: 256 }])
    for (let n = 0; n < 8; n++) {
      const memory = { needsGet: (n & 1) > 0, headSeen: (n & 2) > 0, healthSeen: (n & 4) > 0 };
      for (const askHealthAt of [null, 7]) {
        const flags = memoryFlags({ ...memory, askHealthAt }, bits);
        t.same(unpackMemory(flags | 1024, askHealthAt ?? Number.NaN, bits), { ...memory, askHealthAt });
      }
    }
});

t.test('a timing is read back from its place, with the phases that it lacks', async (t) => {
  const timing = { dnsMs: null, connectMs: 0, tlsMs: 1.5, firstByteMs: null, totalMs: 9 };
  const numbers = new Float64Array(8).fill(77);
  packTiming(numbers, 2, timing);
  t.same(unpackTiming(numbers, 2), timing);
  t.same([numbers[1], numbers[7]], [77, 77], 'nothing beside it is written');
});

t.test('sources keep their places, by which flags name them', async (t) => {
  t.same(SOURCES.slice(-2), ['heartbeat', 'silence']);
  t.equal(new Set(SOURCES).size, SOURCES.length);
});
