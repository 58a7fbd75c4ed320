import fc from 'fast-check';
import t from 'tap';
import { type BodyProgress, createBodyReader, framingOf } from '../../src/outbound/response-body.ts';
import { HeadReader, type ResponseHead } from '../../src/outbound/response-head.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** Reads an answer that comes in these pieces: its heads, its body, and how it ended. */
function read(method: string, pieces: readonly Buffer[]) {
  const heads = new HeadReader();
  const seen: ResponseHead[] = [];
  const body: Buffer[] = [];
  let reader: ReturnType<typeof createBodyReader> | null = null;
  let end: BodyProgress = 'more';
  for (const piece of pieces) {
    let at = 0;
    while (at < piece.length && end === 'more') {
      if (reader === null) {
        const progress = heads.read(piece, at);
        if (progress === null) break;
        if ('problem' in progress) return { seen, body: '', end: progress };
        at = heads.bodyOffset;
        seen.push(progress);
        if (progress.statusCode < 200) continue;
        const framing = framingOf(method, progress.statusCode, progress.headers);
        if (framing.kind === 'invalid') return { seen, body: '', end: framing };
        // Copies: what the parser keeps must not change with the memory of the pieces.
        reader = createBodyReader(framing, (data) => void body.push(Buffer.from(data)));
      }
      end = reader.read(piece, at);
      break;
    }
    piece.fill('x');
  }
  if (end === 'more') end = reader?.end() ?? { problem: { code: 'text', text: 'no head' } };
  return { seen, body: Buffer.concat(body).toString('latin1'), end };
}

function cut(answer: string, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (answer.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) =>
    Buffer.from(answer.slice(from, at[index] ?? answer.length), 'latin1'),
  );
}

const eol = fc.constantFrom('\r\n', '\n');
const field = fc.tuple(
  fc.constantFrom('x-a', 'X-A', 'link', '__proto__', 'x-long'),
  fc.stringMatching(/^[ -~]{0,20}$/),
);
const heads = fc.record({
  interim: fc.array(fc.constantFrom(100, 102, 103), { maxLength: 3 }),
  status: fc.constantFrom(200, 204, 304, 404, 503),
  fields: fc.array(field, { maxLength: 4 }),
  framing: fc.constantFrom('length', 'chunked', 'close'),
  body: fc.stringMatching(/^[ -~\r\n]{0,40}$/),
  eol,
});

type Heads = typeof heads extends fc.Arbitrary<infer Value> ? Value : never;

const asText = ({ interim, status, fields, framing, body, eol }: Heads) => {
  const lines = fields.map(([name, value]) => `${name}: ${value}${eol}`).join('');
  const chunk = body === '' ? '' : `${body.length.toString(16)}${eol}${body}${eol}`;
  const [header, rest] = {
    length: [`content-length: ${body.length}${eol}`, body],
    chunked: [`transfer-encoding: chunked${eol}`, `${chunk}0${eol}${eol}`],
    close: ['', body],
  }[framing] as [string, string];
  const early = interim.map((code) => `HTTP/1.1 ${code} x${eol}${lines}${eol}`).join('');
  return `${early}HTTP/1.1 ${status} x${eol}${lines}${header}${eol}${rest}`;
};
t.test('it reads the same however an answer is cut into pieces', async (t) => {
  fc.assert(
    fc.property(
      heads,
      fc.array(fc.nat(), { maxLength: 30 }),
      fc.constantFrom('GET', 'HEAD'),
      (one, places, method) => {
        const text = asText(one);
        const whole = read(method, [Buffer.from(text, 'latin1')]);
        const pieces = read(method, cut(text, places));
        t.equal(JSON.stringify(pieces), JSON.stringify(whole));
        t.equal(whole.end, 'ended');
        t.same(
          whole.seen.map(({ statusCode }) => statusCode),
          [...one.interim, one.status],
        );
        const bare = method === 'HEAD' || one.status === 204 || one.status === 304;
        t.equal(whole.body, bare ? '' : one.body);
      },
    ),
    { numRuns: propertyRuns(200) },
  );
});

t.test('it takes no bytes for what they are not, and never throws', async (t) => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((values) => Buffer.from(values).toString('latin1'));
  const hostile = fc
    .array(
      fc.oneof(bytes, fc.constantFrom('HTTP/1.1 200 OK\r\n', '\r\n', ':', '0\r\n', 'fffffffffffffffff\r\n')),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(hostile, fc.array(fc.nat(), { maxLength: 10 }), (text, places) => {
      const { seen, end } = read('GET', cut(text, places));
      if (seen.length > 0) t.match(text.toUpperCase(), 'HTTP/');
      t.ok(end !== 'more');
    }),
    { numRuns: propertyRuns(300) },
  );
});
