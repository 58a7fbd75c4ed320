/** `/docs`: the API as the OpenAPI document describes it, to be read and to be tried. */
import type { Route } from '../api/exchange.ts';
import { openApiDocument } from '../api/openapi.ts';
import { PROBLEMS } from '../api/problem.ts';
import type { RenderPage } from './views.ts';

/** The route; the page never changes while the program runs. */
export function docsPage(render: RenderPage, siteUrl: string, version: string): Route {
  const document = openApiDocument(siteUrl, version);
  const operations = Object.entries(document.paths).map(([path, { get }]) => {
    const slug = get.parameters.find(({ name }) => name === 'slug')?.example ?? '';
    return {
      ...get,
      path,
      curl: `curl ${path.includes('events') ? '-N ' : ''}"${siteUrl}${path.replace('{slug}', slug)}"`,
      inputs: get.parameters.filter((parameter) => parameter.in !== 'header'),
      triable: !path.endsWith('/events'),
      answers: Object.entries(get.responses).map(([status, { description }]) => ({ status, description })),
    };
  });
  const answer = render('./docs', {
    title: 'Upbeat API',
    siteUrl,
    description: document.info.description,
    operations,
    problems: Object.entries(PROBLEMS).map(([code, problem]) => ({ code, ...problem })),
    describeType: (schema: { enum?: string[]; type?: string; default?: unknown }) =>
      [
        schema.enum === undefined ? (schema.type ?? '') : schema.enum.join(' | '),
        schema.default === undefined ? '' : `default ${schema.default}`,
      ]
        .filter((part) => part !== '')
        .join(', '),
  });
  return { path: '/docs', bucket: 'pages', handle: () => answer };
}
