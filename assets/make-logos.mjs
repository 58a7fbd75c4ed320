/**
 * `npm run logos`: writes `assets/web/logos.tsv`, the logos of services of the catalogue and of kinds of channels, from the package
 * `simple-icons` (CC0). Logos with a licence of their own are left out. The result is committed, because an installation does not have the
 * package. A line is the slug of a service, or the kind of a channel, and its picture: the glyph on a tile in the colour of the brand, which both themes
 * can show.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as icons from 'simple-icons';
import { parse } from 'yaml';
import { CHANNEL_KINDS } from '../src/domain/alert/channel.ts';
import { contrastOf } from '../src/domain/page-colour.ts';

const ROOT = join(import.meta.dirname, '..');
/** Minimum contrast of a white glyph; on lighter tiles the glyph is dark. */
const MIN_CONTRAST = 2;
const { services } = parse(readFileSync(join(ROOT, 'config/catalogue.yaml'), 'utf8'));
const slugs = new Set(services.map(({ slug }) => slug));
const channels = CHANNEL_KINDS.filter((kind) => !slugs.has(kind)).map((kind) => ({ slug: kind, name: kind }));

/** @param {string} name */
const plain = (name) =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]/g, '');
/** @param {{ license?: { type: string } }} icon */
const isFree = ({ license }) => license === undefined || license.type === 'CC0-1.0';
const byName = new Map(
  Object.values(icons)
    .filter(isFree)
    .map((icon) => [plain(icon.title), icon]),
);
/** @param {{ hex: string, path: string }} icon */
const draw = ({ hex, path }) => {
  const colour = `#${hex.toLowerCase()}`;
  const glyph = contrastOf(colour, '#ffffff') >= MIN_CONTRAST ? '#fff' : '#15191f';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 -8 40 40"><path fill="${colour}" d="M-8-8h40v40H-8z"/><path fill="${glyph}" d="${path}"/></svg>`;
};
const lines = [...services, ...channels]
  .flatMap(({ slug, name }) => {
    const icon = byName.get(plain(name));
    return icon === undefined ? [] : [`${slug}\t${draw(icon)}\n`];
  })
  .sort();
writeFileSync(join(ROOT, 'assets/web/logos.tsv'), lines.join(''));
process.stdout.write(
  `${lines.length} of ${services.length + channels.length} services and channels have a logo\n`,
);
