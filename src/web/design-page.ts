/** `/design`: the tokens and the elements of pages in both themes, for those who change how pages look. In English. */
import { SERVICE_STATUSES } from '../domain/status.ts';
import type { Route } from '../http/route.ts';
import { chooseLanguage, LANGUAGES } from './language/language.ts';
import type { AssetAddresses } from './parts/assets.ts';
import { pillMarkup } from './parts/verdict.ts';
import type { RenderPage } from './parts/views.ts';

/** What the page shows of `assets/web/tokens.css`. */
const TOKENS = {
  colours: [
    { title: 'Surfaces and text', names: ['page', 'card', 'line', 'edge', 'text', 'soft', 'link'] },
    ...['up', 'slow', 'down', 'unknown', 'maintenance'].map((name) => ({
      title: name,
      names: [name, `${name}-text`, `${name}-fill`],
    })),
  ],
  sizes: [
    { name: 'size-1', use: 'Notes, labels of figures, axes' },
    { name: 'size-2', use: 'Secondary text, tables, navigation' },
    { name: 'size-3', use: 'Running text' },
    { name: 'size-4', use: 'Headings of sections, verdicts' },
    { name: 'size-5', use: 'Titles and large figures' },
  ],
  spaces: ['space-1', 'space-2', 'space-3', 'space-4', 'space-5', 'space-6'],
};

/** The route. */
export function designPage(
  render: RenderPage,
  assets: Pick<AssetAddresses, 'designStyle' | 'serviceStyle'>,
): Route {
  return {
    path: '/design',
    bucket: 'pages',
    access: 'everyone',
    handle: (request) =>
      render('./design', {
        language: chooseLanguage(request),
        title: 'Upbeat design',
        meta: [{ attribute: 'name', key: 'robots', content: 'noindex' }],
        styles: [assets.serviceStyle, assets.designStyle],
        ...TOKENS,
        pills: SERVICE_STATUSES.map((word) => {
          const text = LANGUAGES.en.texts.status[word];
          return { word, text, pill: pillMarkup(word, text) };
        }),
      }),
  };
}
