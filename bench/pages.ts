/**
 * What a reader waits for who opens a public page for the first time: bytes on the wire, and the largest contentful paint, in a
 * browser beside the server and over the slow mobile network of Lighthouse. The site has 1,200 public services.
 */
import type { Browser, CDPSession } from 'playwright-core';
import { from } from '../test/site/site-world.ts';
import { launchBrowser, NEEDS_BROWSER } from '../test/support/browser.ts';
import { openPage } from '../test/support/watched-page.ts';
import { PICTURES, startPictureWorld } from '../test/web/picture-world.ts';
import { absent, atMost, type BenchRow, floor, median, printRows } from './row.ts';

const SERVICES = 1_200;
/** What the home page itself may weigh, compressed, bytes. */
const HOME_BYTES = 30 * 1_024;
/** Up to which a largest contentful paint is called good, milliseconds. */
const GOOD_PAINT_MS = 2_500;
const ROUNDS = 5;
/** Scripts and pictures that come after the page has loaded, milliseconds. */
const AFTERWARDS_MS = 500;
/** 150 ms there and back, 1.6 Mbit/s down and 0.75 up, in the units of the browser: milliseconds and bytes a second. */
const SLOW_MOBILE = {
  ...{ offline: false, latency: 150 },
  ...{ downloadThroughput: 200_000, uploadThroughput: 93_750 },
} as const;

const PAGES: Readonly<Record<string, string>> = {
  home: PICTURES.home,
  service: PICTURES.service,
  incident: PICTURES.incident,
  'status page': PICTURES['status-page'],
  incidents: '/incidents',
  maintenance: '/maintenance',
  'heat map': '/heatmap',
  badges: '/badges',
  docs: '/docs',
  about: '/about',
};

/** What opening a page cost. */
interface Opening {
  /** Of the page alone, and of all that it loads, compressed and with the heads of the answers. */
  readonly pageBytes: number;
  readonly allBytes: number;
  readonly requests: number;
  readonly paintMs: number;
}

/** Measures every public page. */
export async function run(): Promise<readonly BenchRow[]> {
  if ('skip' in NEEDS_BROWSER) return printRows([absent('pages', 'no Chromium')]);
  const world = await startPictureWorld(SERVICES);
  const browser = await launchBrowser();
  const rows: BenchRow[] = [];
  for (const [name, path] of Object.entries(PAGES)) {
    const address = world.origin + path;
    // The first answer is drawn, and its compressed bytes are kept.
    await open(browser, address);
    const near = await openOften(browser, address);
    const far = await openOften(browser, address, SLOW_MOBILE);
    const [first] = near;
    if (first === undefined) continue;
    rows.push(
      name === 'home'
        ? atMost(`${name}: the page`, first.pageBytes, 'bytes', HOME_BYTES)
        : floor(`${name}: the page`, first.pageBytes, 'bytes'),
      floor(`${name}: in all, ${first.requests} requests`, first.allBytes, 'bytes'),
      floor(`${name}: largest contentful paint, beside the server`, paintOf(near), 'ms'),
      atMost(`${name}: largest contentful paint, slow mobile`, paintOf(far), 'ms', GOOD_PAINT_MS),
    );
  }
  await browser.close();
  await world.close();
  return printRows(rows);
}

function paintOf(openings: readonly Opening[]): number {
  return median(openings.map(({ paintMs }) => paintMs));
}

async function openOften(
  browser: Browser,
  address: string,
  network?: typeof SLOW_MOBILE,
): Promise<readonly Opening[]> {
  const openings: Opening[] = [];
  for (let round = 0; round < ROUNDS; round++) openings.push(await open(browser, address, network));
  return openings;
}

let readers = 0;

/** Opens the page with nothing in the cache, as a reader of its own for the limits. */
async function open(browser: Browser, address: string, network?: typeof SLOW_MOBILE): Promise<Opening> {
  const { page, close } = await openPage(browser, { extraHTTPHeaders: from(`192.0.2.${++readers}`) });
  const session = await page.context().newCDPSession(page);
  const bytes = await countBytes(session);
  if (network !== undefined) await session.send('Network.emulateNetworkConditions', network);
  const answer = await page.goto(address);
  if (answer?.status() !== 200) throw new Error(`${address} answered with ${answer?.status()}`);
  await page.waitForTimeout(AFTERWARDS_MS);
  const paintMs = (await page.evaluate(`new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
      .observe({ type: 'largest-contentful-paint', buffered: true });
  })`)) as number;
  await close();
  return { pageBytes: bytes.page, allBytes: bytes.all, requests: bytes.requests, paintMs };
}

/** Counts the bytes of answers as they end. The stream of events, which never ends, is left out. */
async function countBytes(session: CDPSession) {
  const bytes = { page: 0, all: 0, requests: 0 };
  let pageId = '';
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Document') pageId = requestId;
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (requestId === pageId) bytes.page = encodedDataLength;
    bytes.all += encodedDataLength;
    bytes.requests++;
  });
  await session.send('Network.enable');
  return bytes;
}

if (import.meta.main) await run();
