/** The files that pages load: a fixed table that is read at the start. File names contain a hash of the content. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { DATA_HEADERS } from '../../http/complete-response.ts';
import { entityTag } from '../../http/conditional.ts';
import { HttpError } from '../../http/problem.ts';
import { pageRoute, type Route } from '../../http/route.ts';

/** URLs of the files, with their hashes. */
export type AssetAddresses = ReturnType<typeof createAssets>['addresses'];

/** Finds the files of packages. */
const { resolve } = createRequire(import.meta.url);
/** For browsers, beside the module that `require` finds. */
const WEBAUTHN_BUNDLE = '../dist/bundle/index.umd.min.js';
const FOLDER = new URL('../../../assets/web/', import.meta.url);
const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
} as const;

function read(name: string, extension: keyof typeof TYPES): Buffer {
  return readFileSync(new URL(`${name}.${extension}`, FOLDER));
}

/** The fonts of pages, by `npm run fonts`. Only the first is needed for English and German. */
const FONTS = ['inter-latin', 'inter-latin-ext'];

/** Reads the files. Browsers may cache them for a year, because changed content has another URL. */
export function createAssets() {
  const files = new Map<string, { readonly body: Buffer; readonly type: string; readonly etag: string }>();
  const addBody = (name: string, extension: keyof typeof TYPES, body: Buffer) => {
    const etag = entityTag(body);
    const address = `${name}-${etag.slice(1, 9)}.${extension}`;
    files.set(address, { body, type: TYPES[extension], etag });
    return `/assets/${address}`;
  };
  const add = (name: string, extension: keyof typeof TYPES, file?: string) =>
    addBody(name, extension, file === undefined ? read(name, extension) : readFileSync(file));
  const route: Route = pageRoute({ path: '/assets/:name', open: true }, ({ params }) => {
    const file = files.get(params.name ?? '');
    if (file === undefined) throw new HttpError('route_not_found', 'There is no such file.');
    const headers = { 'Content-Type': file.type, 'Cache-Control': 'public, max-age=31536000, immutable' };
    return { status: 200, headers, body: file.body, etag: file.etag };
  });
  const [font = '', ...otherFonts] = FONTS.map((name) => add(name, 'woff2'));
  const tokens = [font, ...otherFonts].reduce(
    // Beside the file, whatever the path before both is.
    (css, address, index) =>
      css.replace(`url("${FONTS[index]}.woff2")`, `url("${address.slice('/assets/'.length)}")`),
    read('tokens', 'css').toString(),
  );
  return {
    addresses: {
      // For every page: the tokens of the design, then the elements that all pages share.
      style: addBody('style', 'css', Buffer.from(tokens + read('style', 'css').toString())),
      /** The font that every page loads first. */
      font,
      docsScript: add('docs', 'js'),
      docsStyle: add('docs', 'css'),
      copyScript: add('copy', 'js'),
      // For the editor of pages.
      colourScript: add('colour', 'js'),
      // For forms of services: trials of checks.
      tryCheckScript: add('try-check', 'js'),
      // For pages with passkeys, with the browser's part of the library.
      passkeyLibrary: add(
        'webauthn',
        'js',
        join(dirname(resolve('@simplewebauthn/browser')), WEBAUTHN_BUNDLE),
      ),
      passkeyScript: add('passkeys', 'js'),
      badgeBuilderScript: add('badge-builder', 'js'),
      badgeBuilderStyle: add('badge-builder', 'css'),
      designStyle: add('design', 'css'),
      dashboardStyle: add('dashboard', 'css'),
      // For every page, before its other scripts: access to the document, times in the reader's time zone, tips of
      // drawings, live updates.
      pageScript: addBody(
        'page',
        'js',
        Buffer.concat(['dom', 'times', 'tips', 'live'].map((name) => read(name, 'js'))),
      ),
      // For the home page.
      homeStyle: add('home', 'css'),
      searchScript: add('search', 'js'),
      // For status pages of owners and their embeds.
      statusPageStyle: add('status-page', 'css'),
      embedFrameScript: add('embed-frame', 'js'),
      // For the page of a service, with the chart library.
      serviceStyle: add('service', 'css'),
      serviceScript: add('service', 'js'),
      chartStyle: add('uplot', 'css', resolve('uplot/dist/uPlot.min.css')),
      chartScript: add('uplot', 'js', resolve('uplot/dist/uPlot.iife.min.js')),
      icon: add('favicon', 'svg'),
    },
    route,
  };
}

const EMBED_FILE = new URL('../../../assets/web/embed.js', import.meta.url);
/** The script is cached for an hour, so that sites that load it get a new version soon. */
const EMBED_HEADERS = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Cache-Control': 'public, max-age=3600',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  ...DATA_HEADERS,
};

/** `/embed.js`: the script that other sites load to show a status page. Its URL never changes. */
export function embedScript(): Route {
  const body = readFileSync(EMBED_FILE);
  return {
    path: '/embed.js',
    bucket: 'pages',
    access: 'everyone',
    open: true,
    handle: () => ({ status: 200, headers: EMBED_HEADERS, body }),
  };
}
