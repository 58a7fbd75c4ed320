/** cState's pages: what is asked, what is read of it, and what is refused. */
import t from 'tap';
import { cstate } from '../../../src/feeds/kinds/cstate.ts';
import { at, fixture, readDocument, refusesOthers, sourceOf, urlsOf } from './read-document.ts';

t.test('it asks for the documents that follow from the page', async (t) => {
  t.same(urlsOf(cstate, 'https://status.example.com/'), ['https://status.example.com/index.json']);
});

t.test('cState: unresolved issues with the systems that list them', async (t) => {
  const body = fixture('cstate-index');
  const { entries } = readDocument(cstate, 'index', body);
  t.match(entries, [
    { key: 'state minor', components: ['Media', 'Edge'] },
    { key: 'one.md', components: ['API', 'Gateway'], severity: 'major', startedAt: at('09:00') },
  ]);
  t.equal(entries.length, 2, 'information is none');
  const raw = body.toString().replace('"Example"', '"Exam\nple"');
  t.equal(readDocument(cstate, 'index', raw).entries.length, 2, 'with a raw line break');
});

t.test('it refuses documents of another kind', async (t) => {
  refusesOthers(t, cstate, { source: sourceOf('cstate'), others: [{}, { data: {} }, { status: 'ok' }] });
});
