/** What other sites show of links. */
import fc from 'fast-check';
import t from 'tap';
import { chartCard, openGraphTags } from '../../../src/web/parts/open-graph.ts';
import { anyText } from '../../support/any-text.ts';

const SITE = 'https://upbeat.test';
const rows = (tags: ReturnType<typeof openGraphTags>) =>
  tags.map(({ attribute, key, content }) => `${attribute} ${key} = ${content}`);

t.test('it shows the chart of a service', (t) => {
  const tags = openGraphTags(SITE, {
    title: 'GitHub: Operational',
    description: 'GitHub has been operational since 2026-11-20 10:02 UTC (23 h).',
    path: '/status/github-com',
    image: chartCard('github-com', 'Response times of GitHub over the last 24 hours'),
  });
  t.same(rows(tags), [
    'name description = GitHub has been operational since 2026-11-20 10:02 UTC (23 h).',
    'property og:site_name = Upbeat',
    'property og:type = website',
    'property og:title = GitHub: Operational',
    'property og:description = GitHub has been operational since 2026-11-20 10:02 UTC (23 h).',
    'property og:url = https://upbeat.test/status/github-com',
    'property og:image = https://upbeat.test/api/chart/github-com.png?size=card',
    'property og:image:type = image/png',
    'property og:image:width = 1200',
    'property og:image:height = 630',
    'property og:image:alt = Response times of GitHub over the last 24 hours',
    'name twitter:card = summary_large_image',
  ]);
  t.end();
});

t.test('it shows the heat map of all services for the home page', (t) => {
  t.same(
    rows(
      openGraphTags(SITE, {
        title: 'Upbeat: is it up?',
        description: '2 of 640 are down.',
        path: '/',
        image: { path: '/api/heatmap.png', alt: 'All services over the last 24 hours' },
      }),
    ),
    [
      'name description = 2 of 640 are down.',
      'property og:site_name = Upbeat',
      'property og:type = website',
      'property og:title = Upbeat: is it up?',
      'property og:description = 2 of 640 are down.',
      'property og:url = https://upbeat.test/',
      'property og:image = https://upbeat.test/api/heatmap.png',
      'property og:image:type = image/png',
      'property og:image:alt = All services over the last 24 hours',
      'name twitter:card = summary_large_image',
    ],
  );
  t.end();
});

t.test('it shortens texts between words, and leaves out what turns them around', (t) => {
  const title = (text: string) =>
    openGraphTags(SITE, { title: text, description: '', path: '/', image: { path: '/x.png', alt: '' } }).find(
      ({ key }) => key === 'og:title',
    )?.content ?? '';
  t.equal(title('a\u202eb\n\tc\u0000\u2066d'), 'ab c d');
  t.equal(title(`${'word '.repeat(40)}`), `${'word '.repeat(16)}word…`);
  t.equal(title('w'.repeat(200)), `${'w'.repeat(89)}…`);
  fc.assert(
    fc.property(anyText({ maxLength: 400 }), (text) => {
      const shown = title(text);
      return [...shown].length <= 90 && !/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(shown);
    }),
  );
  t.end();
});
