/** Documents that vendors served, kept with their origin: each is read as a person would read its page. */
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { FEED_KINDS } from '../../src/feeds/kinds-table.ts';
import { JSON_RECORDINGS } from './recorded/json-recordings.ts';
import { readRecording } from './recorded/recording.ts';
import { XML_RECORDINGS } from './recorded/xml-recordings.ts';

const RECORDINGS = [...JSON_RECORDINGS, ...XML_RECORDINGS];
const FOLDER = new URL('./fixtures/recorded/', import.meta.url);

t.test('each recorded document is read as its page reads', async (t) => {
  for (const recording of RECORDINGS)
    t.strictSame(readRecording(recording), recording.entries, `${recording.file} at ${recording.now}`);
});

/** Kinds of which no second event, or no open one, is recorded in public. */
const RARE = new Set(
  'microsoft365 azuredevops apple meta uptimerobot sorry cstate uptimekuma firehydrant okta nintendo zscaler'.split(
    ' ',
  ),
);

/** Kinds that are read by their documentation, or by that of programs that read them: no document is recorded in public. */
const UNRECORDED = new Set('pagerduty statuscast cachet upbeat'.split(' '));

t.test('every kind has recorded documents of two events, one of them open', async (t) => {
  for (const kind of Object.keys(FEED_KINDS)) {
    const own = RECORDINGS.filter((recording) => recording.kind === kind);
    if (RARE.has(kind) || UNRECORDED.has(kind)) {
      t.equal(own.length > 0, RARE.has(kind), kind);
      continue;
    }
    const vendors = new Set(own.map(({ vendor }) => vendor));
    t.ok(vendors.size >= 2, `${kind}: ${[...vendors].join(', ')}`);
    const open = own.some(({ entries }) =>
      entries.some(({ kind, state }) => kind === 'incident' && state !== 'resolved'),
    );
    t.ok(open, `${kind}: one with an open incident`);
  }
});

t.test('every recorded document is in the table, and its origin is told', async (t) => {
  const origins = readFileSync(new URL('README.md', FOLDER), 'utf8');
  const files = readdirSync(FOLDER).filter((name) => name !== 'README.md');
  t.strictSame(files.toSorted(), [...new Set(RECORDINGS.map(({ file }) => file))].toSorted());
  for (const file of files) t.ok(origins.includes(`\`${file}\``), file);
});
