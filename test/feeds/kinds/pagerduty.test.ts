/** PagerDuty's pages: what is asked, what is read of it, and what is refused. */
import t from 'tap';
import { pagerduty } from '../../../src/feeds/kinds/pagerduty.ts';
import { at, readAll, refusesOthers, sourceOf, urlsOf } from './read-document.ts';

t.test('it asks for the documents that follow from the page', async (t) => {
  t.same(urlsOf(pagerduty, 'https://status.example.com/posts/dashboard'), [
    'https://status.example.com/api/post_enums',
    'https://status.example.com/api/services',
    'https://status.example.com/api/posts?is_featured=true&limit=500',
  ]);
});

t.test('PagerDuty: posts with the names of states and services', async (t) => {
  t.match(readAll(pagerduty, 'pagerduty', ['post-enums', 'services', 'posts']), [
    {
      kind: 'maintenance',
      key: 'POST3',
      components: ['Web', 'SVC2'],
      startsAt: at('2026-09-21T09:00:00Z'),
      state: 'planned',
    },
    {
      key: 'POST1',
      sourceUrl: 'https://status.example.com/posts/details/POST1',
      components: ['REST API (US)', 'SVC1'],
      severity: 'major',
      status: 'investigating',
      startedAt: at('09:00'),
      updates: [
        { at: at('09:01'), text: 'Detected' },
        { at: at('09:30'), text: 'Investigating REST API errors' },
      ],
    },
    { key: 'POST2', status: 'resolved', severity: 'minor', resolvedAt: at('08:00') },
  ]);
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, pagerduty, {
    source: sourceOf('pagerduty'),
    others: [{}, { data: {} }, { status: 'ok' }],
  });
});
