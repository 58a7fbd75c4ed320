/** Maintenance as a calendar that readers take. */
import ICAL from 'ical.js';
import t from 'tap';
import { start } from '../site/posting-account.ts';

const HOUR = 3_600_000;

const at = (ms: number) => new Date(ms).toISOString();

t.test('maintenance is a calendar that readers take, with the same ids for ever', async (t) => {
  const { ada, send, world } = await start(t);
  const title = `Ärger, "x"; \\ ${'lang '.repeat(30)}`.trim();
  const weekly = {
    starts_at: '2026-11-24T22:00',
    time_zone: 'Europe/Berlin',
    recurrence: 'FREQ=WEEKLY;COUNT=3',
  };
  const made = await send(
    'POST',
    '/api/v1/maintenances',
    { title, text: 'one\n\ntwo, 3', duration: '1h', services: ['shop'], ...weekly },
    ada,
  );
  t.equal(made.status, 201);
  const { id } = made.json;
  const read = async (path: string) => {
    const response = await world.get(path);
    t.equal(response.headers.get('content-type'), 'text/calendar; charset=utf-8');
    t.ok(
      response.text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75),
      'lines are folded',
    );
    return new ICAL.Component(ICAL.parse(response.text)).getAllSubcomponents('vevent').map((component) => {
      const event = new ICAL.Event(component);
      return {
        uid: event.uid,
        sequence: event.sequence,
        start: event.startDate.toJSDate().toISOString(),
        hours: event.duration.toSeconds() / 3_600,
        title: event.summary,
        text: event.description,
        status: component.getFirstPropertyValue('status'),
      };
    });
  };
  const first = Date.UTC(2026, 10, 24, 21);
  const eventAt = (week: number, name: string) => ({
    uid: `${id}-${first / 1_000 + week * 604_800}@upbeat.test`,
    sequence: 0,
    start: at(first + week * 168 * HOUR),
    hours: 1,
    title: `${name}: ${title}`,
    text: 'one\ntwo, 3',
    status: 'CONFIRMED',
  });
  const allOf = (name: string) => [0, 1, 2].map((week) => eventAt(week, name));
  const all = allOf('Acme');
  t.strictSame(await read('/status/shop/calendar.ics'), allOf('Shop (shop.example)'));
  t.strictSame(await read('/p/acme/calendar.ics'), all);
  await send('POST', `/api/v1/maintenances/${id}/occurrence`, { action: 'skip' }, ada);
  t.match(await read('/p/acme/calendar.ics'), [
    { uid: all[0]?.uid, sequence: 1, status: 'CANCELLED' },
    { uid: all[1]?.uid, sequence: 1, status: 'CONFIRMED' },
    {},
  ]);
  await send('DELETE', `/api/v1/maintenances/${id}`, undefined, ada);
  t.same(
    new Set((await read('/status/shop/calendar.ics')).map(({ status }) => status)),
    new Set(['CANCELLED']),
  );
  t.equal((await world.get('/status/none/calendar.ics')).status, 404);
  t.equal((await world.get('/p/none/calendar.ics')).status, 404);
});

t.test('a calendar stays small, however much an owner announces', async (t) => {
  const { ada, send, world } = await start(t);
  for (let number = 1; number <= 30; number++) {
    const starts_at = `2026-11-${number}T22:00`;
    const daily = { starts_at, duration: '1h', recurrence: 'FREQ=DAILY', services: ['shop'] };
    const body = { title: `Work ${number}.`, text: `ü${'x'.repeat(9_000)}`, ...daily };
    t.match(await send('POST', '/api/v1/maintenances', body, ada), { status: number < 20 ? 400 : 201 });
  }
  const { text } = await world.get('/status/shop/calendar.ics');
  const titles = [...text.matchAll(/^SUMMARY:.*(Work \d+)\./gm)].map(([, title]) => title);
  t.equal(new Set(titles).size, 11, 'each has its share');
  t.ok(titles.length <= 500 && titles.length > 450, `${titles.length}`);
  t.ok(Buffer.byteLength(text) < 500_000, `${Buffer.byteLength(text)} bytes`);
});
