/** What charts and heat maps have in common: query parameters and their part of the OpenAPI document. */
import { PICTURE_THEMES, PICTURE_WINDOWS } from '../domain/picture.ts';
import {
  LIMIT_HEADERS,
  OPEN_TO_ALL,
  type OpenApiOperation,
  problems,
  queryParameters,
} from '../http/openapi.ts';
import { type ParameterSchemas, wordParameter } from '../http/parameters.ts';

/** The query parameter for the window of a picture. */
export const WINDOW_PARAMETER = wordParameter(PICTURE_WINDOWS, 'How far back the picture looks.', '24h');
/** The query parameter for the colours of a picture. */
export const THEME_PARAMETER = wordParameter(PICTURE_THEMES, 'Colours for a light or a dark page.', 'light');

/** The part of an operation that is the same for every picture. `more`: errors beyond the usual ones, by status. */
export function pictureOperation(
  query: ParameterSchemas,
  more: Readonly<Record<string, string>>,
): Omit<OpenApiOperation, 'operationId' | 'summary' | 'description'> {
  return {
    tags: ['Pictures'],
    security: OPEN_TO_ALL,
    parameters: queryParameters(query),
    responses: {
      200: {
        description: 'The picture, to be kept by shared caches for 300 seconds.',
        headers: LIMIT_HEADERS,
        content: { 'image/png': { schema: { type: 'string', contentMediaType: 'image/png' } } },
      },
      304: { description: 'The client has it already; this costs nothing of the limit.' },
      ...problems({
        400: 'A parameter is not known; the body names it.',
        401: 'The API key is not valid.',
        ...more,
        429: 'Too many requests; pictures have a limit of their own.',
        503: 'The store of past checks does not answer, or the first picture of a window takes long; Retry-After says when to come again.',
      }),
    },
  };
}
