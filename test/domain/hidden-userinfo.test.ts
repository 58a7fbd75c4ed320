/** Addresses without user and password. */
import t from 'tap';
import { hideUserinfo } from '../../src/domain/printable-text.ts';

t.test('it hides user and password of every URL in a text', async (t) => {
  const table = [
    ['http://upbeat:s3cret@influx:8086 has upbeat', 'http://***@influx:8086 has upbeat'],
    ['redis://:p@ss@h:1/0, rediss://u@h', 'redis://***@h:1/0, rediss://***@h'],
    ['{"url":"https://a:b@c/d?e=f@g"}', '{"url":"https://***@c/d?e=f@g"}'],
    ['http://a:b@c,d:e@f', 'http://***@f'],
    ['https://example.org/@user mail a@b.org', 'https://example.org/@user mail a@b.org'],
    ['redis+sentinel://:x@a:1,b:2/0', 'redis+sentinel://***@a:1,b:2/0'],
    ['nothing here', 'nothing here'],
  ] as const;
  for (const [text, shown] of table) t.equal(hideUserinfo(text), shown);
});
