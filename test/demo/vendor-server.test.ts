/** The servers of the simulated vendors: validators, gzip, and faults. */
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { faultAt, type Vendor } from '../../demo/vendors/script.ts';
import { startVendors } from '../../demo/vendors/vendor-server.ts';
import { sampleVendor } from './sample-vendor.ts';

const SECOND = 1_000;

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

function ask(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function serve(t: Test, vendors: readonly Vendor[], isCutOffNow = () => false) {
  const servers = await startVendors(vendors, isCutOffNow);
  t.teardown(() => servers.close());
  return { servers, url: (slug: string) => servers.pages.get(slug)?.url ?? '' };
}

t.test('its servers tag, date and zip their documents', async (t) => {
  const { servers, url } = await serve(t, [
    sampleVendor('statuspage', { slug: 'tagged' }),
    sampleVendor('rss', { slug: 'dated' }),
  ]);
  const page = `${url('tagged')}/api/v2/incidents.json`;
  const first = await ask(page);
  t.match(first, {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8', etag: /^W\// },
  });
  const etag = String(first.headers.etag);
  const zipped = await ask(page, { 'accept-encoding': 'gzip, br' });
  t.same(
    [zipped.headers['content-encoding'], gunzipSync(zipped.body).subarray(0, 8)],
    ['gzip', first.body.subarray(0, 8)],
  );
  // The documents are built anew now and then: the tag of one answer holds for the next, but for that moment.
  let again = await ask(page, { 'if-none-match': etag });
  if (again.status === 200) again = await ask(page, { 'if-none-match': String(again.headers.etag) });
  t.same([again.status, again.body.length], [304, 0]);
  t.equal((await ask(page, { 'if-none-match': '"another"' })).status, 200);
  t.match(await ask(url('tagged')), { status: 200, headers: { 'content-type': /html/ } });
  t.equal((await ask(`${url('tagged')}/nothing`)).status, 404);

  const feed = servers.pages.get('dated')?.feedUrl ?? '';
  t.match(feed, /\/feed\.rss$/);
  let modified: string | undefined;
  for (let tries = 0; modified === undefined && tries < 50; tries++) {
    modified = (await ask(feed)).headers['last-modified'] as string | undefined;
    if (modified === undefined) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.match(modified, / GMT$/, 'once the second of the change is over');
  t.equal((await ask(feed, { 'if-modified-since': 'Sun, 20 Sep 2026 10:00:00 GMT' })).status, 200);
  const unchanged = await ask(feed, { 'if-modified-since': new Date(Date.now() + 60_000).toUTCString() });
  t.ok(unchanged.status === 304 || unchanged.headers['last-modified'] === undefined);
});

t.test('its servers break as the script wants', async (t) => {
  const vendor = sampleVendor('statuspage', {
    faults: [
      { from: 10 * SECOND, to: 20 * SECOND, fault: { kind: 'unavailable', retryAfterSeconds: 7 } },
      { from: 20 * SECOND, to: 30 * SECOND, fault: { kind: 'html' } },
      { from: 30 * SECOND, to: 40 * SECOND, fault: { kind: 'cut' } },
    ],
  });
  let cutOff = false;
  const { servers, url } = await serve(t, [vendor], () => cutOff);
  const page = `${url('shop')}/api/v2/incidents.json`;
  const at = async (seconds: number) => {
    servers.begin(Date.now() - seconds * SECOND);
    return await ask(page).then(
      ({ status, headers }) => [status, headers['content-type'], headers['retry-after']],
      ({ code }) => code,
    );
  };
  t.same(await at(-5), [200, 'application/json; charset=utf-8', undefined]);
  t.same(await at(12), [503, undefined, '7']);
  t.same(await at(22), [200, 'text/html; charset=utf-8', undefined]);
  t.equal(await at(32), 'ECONNRESET');
  t.same(await at(45), [200, 'application/json; charset=utf-8', undefined]);
  t.equal((await at(112))[0], 503, 'in each period');
  cutOff = true;
  t.equal(await at(45), 'ECONNRESET');
  t.equal(servers.answers.get(503), 2);
  t.equal(faultAt(vendor, -1), null);
});
