/** The style of a page's brand colour. */
import { readableColours } from '../../domain/page-colour.ts';

/** The name of the style of a brand colour within its page. It contains the colour, so that each has its own URL. */
export function brandPart(colour: string): string {
  return `brand.css?v=${colour.slice(1)}`;
}

/** The style of a brand colour: the colour itself as an edge above the page, and readable ones for links in both themes. */
export function brandStyle(colour: string): string {
  const { light, dark } = readableColours(colour);
  const accent = (shade: string) => `{--link:${shade};--focus:${shade}}`;
  return [
    `:root,[data-theme=light]${accent(light)}`,
    `@media (prefers-color-scheme:dark){:root:not([data-theme=light])${accent(dark)}}`,
    `[data-theme=dark]${accent(dark)}`,
    `.own{border-top:6px solid ${colour}}`,
    '',
  ].join('\n');
}
