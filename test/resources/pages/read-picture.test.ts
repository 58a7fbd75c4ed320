/** Uploaded pictures, good, hostile and broken; and the form that brings them. */
import fc from 'fast-check';
import t from 'tap';
import { readUpload } from '../../../src/http/body.ts';
import { HttpError } from '../../../src/http/problem.ts';
import type { HttpRequest } from '../../../src/http/route.ts';
import { readPicture } from '../../../src/resources/pages/read-picture.ts';
import { bmpOf, gifOf, icoOf, jpegOf, pngOf, webpOf } from '../../support/pictures.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const KINDS = { 'image/png': pngOf, 'image/jpeg': jpegOf, 'image/webp': webpOf, 'image/gif': gifOf } as const;

t.test('it knows each kind and its sides by content', async (t) => {
  for (const [type, make] of Object.entries(KINDS)) {
    t.match(
      readPicture(make(200, 50), 'logo'),
      { ok: true, picture: { type, width: 200, height: 50 } },
      type,
    );
    t.match(readPicture(make(16, 2_048), 'logo'), { ok: true }, `${type} at the bounds`);
    t.match(
      readPicture(make(15, 64), 'logo'),
      { ok: false, problem: { code: 'picture_dimensions', width: 15, height: 64 } },
      `${type} too small`,
    );
    t.match(
      readPicture(make(64, 2_049), 'logo'),
      { ok: false, problem: { code: 'picture_dimensions', width: 64, height: 2_049 } },
      `${type} too large`,
    );
    t.match(readPicture(make(64, 64).subarray(0, 8), 'logo'), { ok: false }, `${type} cut off`);
  }
  t.match(readPicture(bmpOf(64, 64), 'logo'), { ok: false, problem: { code: 'picture_unreadable' } });
  const one = readPicture(pngOf(64, 64), 'logo');
  const other = readPicture(pngOf(64, 65), 'logo');
  t.ok(one.ok && other.ok && one.picture.mark !== other.picture.mark);
});

t.test('it has formats and bounds of its own for a favicon', async (t) => {
  const icon = readPicture(icoOf(32, 32), 'favicon');
  t.match(icon, { ok: true, picture: { type: 'image/x-icon', width: 32, height: 32 } });
  const formats = ['PNG', 'ICO', 'WebP', 'GIF'];
  for (const [bytes, problem] of [
    [jpegOf(32, 32), { code: 'picture_unreadable', formats }],
    [pngOf(513, 32), { code: 'picture_dimensions', min: 16, max: 512 }],
    [new Uint8Array(65_537), { code: 'picture_too_large', maxBytes: 65_536 }],
    [Buffer.from('<svg/>'), { code: 'picture_svg', formats }],
  ] as const)
    t.match(readPicture(bytes, 'favicon'), { ok: false, problem }, problem.code);
  t.match(readPicture(icoOf(32, 32), 'logo'), { ok: false, problem: { code: 'picture_unreadable' } });
});

t.test('it survives whatever bytes come', async (t) => {
  const heads = Object.values(KINDS).map((make) => make(64, 64));
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }),
    fc
      .tuple(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 400 }), fc.nat({ max: 60 }))
      .map(([head, tail, cut]) => Buffer.concat([head.subarray(0, cut), tail])),
  );
  const types = new Set(Object.keys(KINDS));
  fc.assert(
    fc.property(hostile, (bytes) => {
      const reading = readPicture(bytes, 'logo');
      if (!reading.ok) return reading.problem.code.startsWith('picture_');
      const { type, width, height } = reading.picture;
      return types.has(type) && width >= 16 && width <= 2_048 && height >= 16 && height <= 2_048;
    }),
    { numRuns: propertyRuns(150) },
  );
  t.pass('no exception, and nothing beyond the bounds');
});

const request = (body: Buffer, type: string, headers: Record<string, string> = {}): HttpRequest => ({
  method: 'POST',
  params: {},
  query: '',
  client: '203.0.113.1',
  headers: { 'content-type': type, ...headers },
  readBody: async (maxBytes) => {
    if (body.length > maxBytes) throw new HttpError('body_too_large', 'too large');
    return body;
  },
});

const formOf = async (build: (form: FormData) => void) => {
  const form = new FormData();
  build(form);
  const sent = new Response(form);
  return { body: Buffer.from(await sent.arrayBuffer()), type: sent.headers.get('content-type') ?? '' };
};

t.test('it reads fields and one file, each within its bound', async (t) => {
  const { body, type } = await formOf((form) => {
    form.append('token', ' abc ');
    form.append('token', 'second');
    form.append('logo', new Blob([Buffer.from('content')]), 'x.png');
    form.append('logo', new Blob([Buffer.from('more')]), 'y.png');
  });
  const read = await readUpload(request(body, type), 'logo', 100);
  t.same([...read.fields], [['token', 'abc']]);
  t.equal(read.file?.toString(), 'content');
  t.equal(read.tooLarge, false);
  t.match(await readUpload(request(body, type), 'other', 100), { file: null });
  t.match(await readUpload(request(body, type), 'logo', 3), { tooLarge: true });
  t.match(await readUpload(request(Buffer.alloc(20_000), type), 'logo', 3), { tooLarge: true, file: null });
});

t.test('it refuses what no form of this site sends', async (t) => {
  const { body, type } = await formOf((form) => form.append('token', 'abc'));
  const refused: readonly (readonly [HttpRequest, string])[] = [
    [request(body, 'text/plain'), 'unsupported_media_type'],
    [request(body, 'multipart/form-data; nothing'), 'bad_request'],
    [request(body, type, { 'sec-fetch-site': 'cross-site' }), 'forbidden_form'],
  ];
  for (const [asked, code] of refused) await t.rejects(readUpload(asked, 'logo', 100), { code }, code);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: 200 }), async (noise, cut) => {
      const broken = Buffer.concat([body.subarray(0, cut), noise]);
      const outcome = await readUpload(request(broken, type), 'logo', 100).catch((error: HttpError) => error);
      return outcome instanceof HttpError ? outcome.code === 'bad_request' : outcome.fields instanceof Map;
    }),
    { numRuns: propertyRuns(100) },
  );
});
