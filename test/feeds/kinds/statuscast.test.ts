/** StatusCast's pages: what is asked, what is read of it, and what is refused. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { statuscast } from '../../../src/feeds/kinds/rss.ts';
import { at, readDocument, urlsOf } from './read-document.ts';

t.test('it asks for the documents that follow from the page', async (t) => {
  t.same(urlsOf(statuscast, 'https://status.example.com'), ['https://status.example.com/rss/']);
});

t.test('StatusCast: posts of one incident are its updates', async (t) => {
  const body = readFileSync(new URL('../fixtures/statuscast-feed.xml', import.meta.url));
  t.match(readDocument(statuscast, 'feed', body).entries, [
    { key: '378901', title: 'Purging is slow', status: 'investigating', startedAt: at('11:00') },
    {
      title: 'Ashburn (IAD) elevated errors',
      status: 'resolved',
      startedAt: at('10:00'),
      resolvedAt: at('10:30'),
      updates: [{ status: 'investigating' }, { status: 'resolved' }],
    },
  ]);
  t.throws(() => readDocument(statuscast, 'feed', '<feed xmlns="http://www.w3.org/2005/Atom"/>'), /no RSS/);
});
