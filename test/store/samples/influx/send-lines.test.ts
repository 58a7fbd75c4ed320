/** How refused requests are divided until the points at fault are found, and how few requests that takes. */
import fc from 'fast-check';
import t from 'tap';
import {
  judgeRefusal,
  sendLines,
  type WriteRefusal,
} from '../../../../src/store/samples/influx/send-lines.ts';

const lines = (count: number) => Array.from({ length: count }, (_, at) => `m,service_id=1 up=1i ${at}`);
const refusal = (status: number, message: string): WriteRefusal => ({ status, message, retryAfterMs: null });
const anySize = () => ({ maxLines: Number.POSITIVE_INFINITY });

/** A server that refuses a whole request for any of its bad lines, and for too many; says nothing of which. */
function serverOf(bad: ReadonlySet<string>, maxLines = Number.POSITIVE_INFINITY) {
  const stored = new Set<string>();
  const server = {
    stored,
    requests: 0,
    async post(sent: readonly string[]) {
      server.requests++;
      if (sent.length > maxLines) return refusal(413, 'too large');
      if (sent.some((line) => bad.has(line))) return refusal(400, 'bad line');
      for (const line of sent) stored.add(line);
      return null;
    },
  };
  return server;
}

t.test('verdicts of refusals', async (t) => {
  const sent = lines(3);
  const table: readonly (readonly [number, string, object])[] = [
    [401, 'unauthorized access', { kind: 'keep' }],
    [403, 'insufficient permissions for write', { kind: 'keep' }],
    [404, 'bucket "x" not found', { kind: 'keep' }],
    [408, 'request timeout', { kind: 'keep' }],
    [413, 'request too large', { kind: 'split' }],
    [429, 'rate limited', { kind: 'keep' }],
    [429, 'dropped=2', { kind: 'keep' }],
    [500, 'partial write: timeout dropped=2', { kind: 'keep' }],
    [503, 'overloaded', { kind: 'keep' }],
    [0, 'ECONNREFUSED', { kind: 'keep' }],
    [400, 'Please provide either orgID or org', { kind: 'keep' }],
    [400, 'database is required', { kind: 'keep' }],
    [400, 'invalid precision; valid precision units are ns, us, ms, and s', { kind: 'keep' }],
    [400, 'partial write: points beyond retention policy dropped=2', { kind: 'stored', dropped: 2 }],
    [
      422,
      `partial write: ${'x'.repeat(400)} dropped=1 for database: 80787216c87b1bd0`,
      { kind: 'stored', dropped: 1 },
    ],
    [422, 'oldest point m,name=dropped=3 dropped=1', { kind: 'stored', dropped: 1 }],
    [422, 'dropped=99', { kind: 'stored', dropped: 3 }],
    [400, `unable to parse '${sent[1]}': missing fields`, { kind: 'malformed', places: [1] }],
    [400, `partial write: unable to parse '${sent[2]}': bad dropped=0`, { kind: 'malformed', places: [2] }],
    [400, "unable to parse 'something else': bad", { kind: 'split' }],
    [400, 'what a line', { kind: 'split' }],
    [422, 'failure', { kind: 'split' }],
  ];
  for (const [status, message, verdict] of table)
    t.same(judgeRefusal(refusal(status, message), sent), verdict, `${status} ${message.slice(0, 60)}`);
});

t.test('every valid line is stored, regardless of which others are invalid', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 300 }),
      fc.array(fc.nat(), { maxLength: 4 }),
      fc.option(fc.integer({ min: 1, max: 50 })),
      async (count, places, maxLines) => {
        const all = lines(count);
        const bad = new Set(places.map((place) => all[place % count] ?? ''));
        const server = serverOf(bad, maxLines ?? undefined);
        const size = anySize();
        const stored = new Set<string>();
        let dropped = 0;
        // What one round leaves is sent in the next.
        let unsent: readonly string[] = all;
        for (let round = 0; unsent.length > 0 && round < 50; round++) {
          const outcome = await sendLines(server.post, unsent, size);
          dropped += outcome.dropped;
          unsent = outcome.unsent;
          for (const line of server.stored) stored.add(line);
        }
        const isAllBad = bad.size === count;
        return isAllBad ? dropped === 0 : stored.size === count - bad.size && dropped === bad.size;
      },
    ),
  );
  t.pass('for any of them');
});

t.test('one bad line of 5,000 costs a few requests', async (t) => {
  const all = lines(5_000);
  const server = serverOf(new Set([all[1_234] ?? '']));
  t.match(await sendLines(server.post, all, anySize()), { unsent: [], dropped: 1, problem: null });
  t.equal(server.stored.size, 4_999);
  t.ok(server.requests < 40, `${server.requests} requests`);
});

t.test('a server that accepts nothing causes no loss', async (t) => {
  const all = lines(5_000);
  const server = serverOf(new Set(all));
  const outcome = await sendLines(server.post, all, anySize());
  t.match(outcome, { dropped: 0, refusal: null, problem: /HTTP 400: bad line/, fault: 'other' });
  t.same(outcome.unsent, all);
  t.ok(server.requests <= 60, `${server.requests} requests`);
});

t.test('a request that is too large is not tried again in that size', async (t) => {
  const server = serverOf(new Set(), 700);
  const size = anySize();
  await sendLines(server.post, lines(5_000), size);
  t.equal(server.stored.size, 5_000);
  t.equal(size.maxLines, 625);
  server.requests = 0;
  await sendLines(server.post, lines(5_000), size);
  t.equal(server.requests, 8);
});

t.test('only unsent lines are sent again after the server became unavailable', async (t) => {
  const all = lines(8);
  let requests = 0;
  const outcome = await sendLines(
    async (sent) => {
      requests++;
      if (requests >= 4) return { ...refusal(503, 'going down'), retryAfterMs: 2_000 };
      return sent.includes(all[0] ?? '') ? refusal(413, 'too large') : null;
    },
    all,
    { maxLines: 100 },
  );
  // 8 too large, 4 too large, 2 too large; then it is away.
  t.same(outcome.unsent, all);
  t.match(outcome, { dropped: 0, problem: /HTTP 503/, fault: 'server', retryAfterMs: 2_000 });
});
