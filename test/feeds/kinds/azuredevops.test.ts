/** Azure DevOps' page: what is read of it, and what is refused. */
import t from 'tap';
import { azuredevops } from '../../../src/feeds/kinds/azuredevops.ts';
import { fixture, readDocument, refusesOthers, urlsOf } from './read-document.ts';

t.test('it asks for the document that follows from the page, or for that of the feed URL', async (t) => {
  t.same(urlsOf(azuredevops, 'https://status.dev.azure.com/'), [
    'https://status.dev.azure.com/_apis/status/health?api-version=7.1-preview.1',
  ]);
  t.match(azuredevops.addresses({ pageUrl: 'https://a.example', feedUrl: 'https://b.example/x' }), [
    { url: 'https://b.example/x', listsOnlyOpen: true },
  ]);
});

t.test('Azure DevOps: a service in trouble anywhere is an outage with its geographies', async (t) => {
  const { entries } = readDocument(azuredevops, 'health', fixture('azuredevops-health'));
  t.match(entries, [
    {
      key: 'state major',
      title: 'Pipelines are impacted in Europe',
      components: ['Pipelines', 'Europe', 'EU'],
      severity: 'major',
    },
    { key: 'state minor', components: ['Pipelines', 'United States', 'US'], severity: 'minor' },
  ]);
  t.equal(entries.length, 2, 'advisories are none');
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, azuredevops, { others: [{}, { services: [] }, { status: { health: 'healthy' } }] });
});
