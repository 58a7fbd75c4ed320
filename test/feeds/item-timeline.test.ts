/** Updates in the texts of items: their order, states and parts. */
import t from 'tap';
import { readTimeline } from '../../src/feeds/item-timeline.ts';
import { rss } from '../../src/feeds/kinds/rss.ts';
import { at, readDocument } from './kinds/read-document.ts';

/** The entries of a feed of items: each a list of element name and content. */
function readItems(...items: Readonly<Record<string, string>>[]) {
  const written = items.map((item) => {
    const fields = Object.entries(item).map(([name, text]) => `<${name}><![CDATA[${text}]]></${name}>`);
    return `<item>${fields.join('')}</item>`;
  });
  const document = `<rss version="2.0"><channel><link>https://status.example.com/</link>${written.join('')}</channel></rss>`;
  return readDocument(rss, 'feed', document).entries;
}

const TODAY = { guid: 'g', title: 'A fault', pubDate: 'Sun, 20 Sep 2026 10:00:00 GMT' };

t.test('a line may tell time and state of an update', async (t) => {
  for (const description of [
    '<h3>Sep 20, 10:00 UTC - Resolved</h3><p>x</p><h3>Sep 20, 09:00 UTC - Investigating</h3><p>y</p>',
    '<h3>Resolved — Sep 20, 2026 10:00 UTC</h3><p>x</p><h3>Investigating — Sep 20, 2026 09:00 UTC</h3><p>y</p>',
    '<h3>2026-09-20 10:00 UTC | Resolved</h3><p>x</p><h3>2026-09-20 09:00 UTC | Investigating</h3><p>y</p>',
    '<p><b>Resolved</b> <small>Sep 20, 10:00 UTC</small></p><p>x</p><p><b>Investigating</b> <small>Sep 20, 09:00 UTC</small></p><p>y</p>',
    // IBM Cloud, and Oracle Cloud.
    'STATUS:<br/>- 2026-09-20 09:00 UTC - INVESTIGATING - y<br/>- 2026-09-20 10:00 UTC - RESOLVED - x',
    "<p><small>Sep<var data-var='date'>20</var><var data-var='time'>10:00</var> UTC</small><br><strong>Resolved</strong> - x</p><p><small>Sep<var>20</var><var>09:00</var> UTC</small><br><strong>Investigating</strong> - y</p>",
  ])
    t.match(
      readItems({ ...TODAY, description }),
      [
        {
          status: 'resolved',
          startedAt: at('09:00'),
          resolvedAt: at('10:00'),
          updates: [
            { status: 'investigating', text: 'y' },
            { status: 'resolved', text: 'x' },
          ],
        },
      ],
      description,
    );
});

t.test('times of updates may be written in other languages', async (t) => {
  for (const [newer, older, resolved, open] of [
    ['Sep 20, 12:00 MESZ', 'Sep 20, 11:00 MESZ', 'Behoben', 'Wird untersucht'],
    ['20. Sept. 2026, 12:00 Uhr MESZ', '20. September 2026 um 11:00 Uhr MESZ', 'Gelöst', 'Untersuchung'],
    ['sept. 20, 12:00 CEST', 'sept. 20, 11:00 CEST', 'Résolu', 'Investigation'],
    ['20 septembre 2026 à 10:00 UTC', '20 septembre 2026 à 09:00 UTC', 'Résolu', 'Enquête'],
    ['sep 20, 10:00 UTC', 'sep 20, 09:00 UTC', 'Resuelto', 'Investigando'],
    ['20 de setembro de 2026, 07:00 BRT', '20 de setembro de 2026, 06:00 BRT', 'Resolvido', 'Investigando'],
    ['9月 20, 19:00 JST', '9月 20, 18:00 JST', '解決済み', '調査中'],
    ['2026年9月20日 19:00 JST', '2026年9月20日 18:00 JST', '復旧', '調査中'],
    ['9月20日 18:00 UTC+8', '9月20日 17:00 UTC+8', '已恢复', '调查中'],
    ['2026年9月20日 18:00 CST', '2026年9月20日 17:00 CST', '已恢复', '调查中'],
    ['Sep 20, 04:00 CST', 'Sep 20, 03:00 CST', 'Resolved', 'Investigating'],
  ] as const) {
    const description = `<p><small>${newer}</small><br><strong>${resolved}</strong> - x</p><p><small>${older}</small><br><strong>${open}</strong> - y</p>`;
    const times = { startedAt: at('09:00'), resolvedAt: at('10:00') };
    t.match(
      readItems({ ...TODAY, description }),
      [{ ...times, status: 'resolved', updates: [{ status: 'investigating' }, { status: 'resolved' }] }],
      newer,
    );
  }
  const near = Date.parse('2026-07-01T00:00:00Z');
  const months = {
    ...{
      Jan: 1,
      'janv.': 1,
      gen: 1,
      ene: 1,
      'févr.': 2,
      fev: 2,
      März: 3,
      mars: 3,
      abr: 4,
      'avr.': 4,
      Mai: 5,
      mag: 5,
    },
    ...{ juin: 6, giu: 6, 'juil.': 7, lug: 7, août: 8, ago: 8, set: 9, Okt: 10, out: 10, ott: 10 },
    ...{ 'déc.': 12, Dez: 12, dic: 12 },
  };
  for (const [month, number] of Object.entries(months)) {
    const { updates } = readTimeline(`${month} 20, 10:00 UTC\nResolved - x`, near);
    t.equal(new Date(updates[0]?.at ?? 0).getUTCMonth() + 1, number, month);
  }
  for (const line of ['Outage 12, 10:00 UTC', 'Settings 5 at 10:00 UTC', 'Partial outage 2, 10:00 UTC'])
    t.same(readTimeline(`${line}\nResolved - x`, near).updates, [], line);
});

t.test('a window ends on its day, however that is written', async (t) => {
  for (const [line, startsAt, endsAt] of [
    ['Sep 20, 10:00 - 12:00 UTC', '10:00', '12:00'],
    ['20 Sep 2026, 10:00 AM - 12:00 PM UTC', '10:00', '12:00'],
    ['20. Sept. 2026, 12:00 – 14:00 Uhr MESZ', '10:00', '12:00'],
    ['2026年9月20日 19:00 - 21:00 JST', '10:00', '12:00'],
    ['2026-09-20 10:00 - 12:00 UTC', '10:00', '12:00'],
    ['Sunday, 20 Sep 2026, 22:00 - 02:00 UTC', '22:00', '2026-09-21T02:00:00Z'],
    ['2026-09-20 10:00 UTC', '10:00', null],
  ] as const)
    t.same(
      readTimeline(`Scheduled for ${line}`, at('12:00')).window,
      { startsAt: at(startsAt), endsAt: endsAt === null ? null : at(endsAt) },
      line,
    );
});

t.test('the state of an update without one is that of the update below it', async (t) => {
  const description = '<p><strong>Update</strong> - x</p><p><strong>Monitoring</strong> - A fix is out.</p>';
  t.match(readItems({ ...TODAY, description }), [{ status: 'monitoring' }]);
  t.match(readItems({ ...TODAY, title: 'Resolved - Latency spike', description: '' }), [
    { title: 'Latency spike', status: 'resolved' },
  ]);
  t.match(readItems({ ...TODAY, title: 'Monitoring - alerts are late', description: '' }), [
    { title: 'Monitoring - alerts are late', status: 'investigating' },
  ]);
});

t.test('a state may follow a picture, and an end may be a category', async (t) => {
  for (const item of [
    { title: '✅ Resolved: A fault' },
    { title: '✔️ [Fixed] A fault' },
    { description: '🟢 Resolved - It is back.' },
    { description: 'x', category: 'Resolved' },
  ])
    t.match(readItems({ ...TODAY, ...item }), [{ title: 'A fault', status: 'resolved' }]);
  for (const category of ['Monitoring', 'Outage', 'Maintenance window'])
    t.notMatch(readItems({ ...TODAY, title: 'x', category }), [{ status: 'monitoring' }], category);
  t.match(readItems({ ...TODAY, title: '🔴 API down' }), [{ title: '🔴 API down', status: 'investigating' }]);
});

t.test('a list of parts needs no states', async (t) => {
  const listed = (list: string) =>
    `<b>Status: Monitoring</b><br/>x<br/><b>Affected components</b>${list}<p>We watch it.</p>`;
  for (const [description, components] of [
    [listed('<ul><li>API</li><li>Chat</li></ul>'), ['API', 'Chat']],
    [listed('\n<ul class="parts">\n<li>API</li>\n<li>Chat (Operational)</li>\n</ul>'), ['API', 'Chat']],
    [listed(': API, Chat'), ['API', 'Chat']],
    [
      'Status: Monitoring<br />x<br />SERVICES/COMPONENTS AFFECTED:<br />- API<br />- Chat<br /><br />We watch it.',
      ['API', 'Chat'],
    ],
    [listed(''), null],
  ] as const)
    t.match(
      readItems({ ...TODAY, description }),
      [{ components, updates: [{ status: 'monitoring' }] }],
      description,
    );
});

t.test('of several updates within one minute, the end is the last', async (t) => {
  const step = (time: string, label: string) =>
    `<p><small>Sep 20, ${time} UTC</small><br><strong>${label}</strong> - x</p>`;
  for (const [steps, status, states] of [
    [
      [
        ['10:00', 'Investigating'],
        ['10:00', 'Resolved'],
      ],
      'resolved',
      ['investigating', 'resolved'],
    ],
    [
      [
        ['10:00', 'Resolved'],
        ['10:00', 'Investigating'],
      ],
      'resolved',
      ['investigating', 'resolved'],
    ],
    [
      [
        ['10:00', 'Monitoring'],
        ['10:00', 'Resolved'],
        ['10:00', 'Identified'],
        ['09:00', 'Investigating'],
      ],
      'resolved',
      ['investigating', 'identified', 'monitoring', 'resolved'],
    ],
    // Opened again, in the next minute.
    [
      [
        ['10:01', 'Investigating'],
        ['10:00', 'Resolved'],
      ],
      'investigating',
      ['resolved', 'investigating'],
    ],
    // The oldest first, as Status.io lists them, and without order.
    [
      [
        ['09:00', 'Investigating'],
        ['10:00', 'Monitoring'],
      ],
      'monitoring',
      ['investigating', 'monitoring'],
    ],
    [
      [
        ['09:30', 'Identified'],
        ['10:00', 'Resolved'],
        ['09:00', 'Investigating'],
      ],
      'resolved',
      ['investigating', 'identified', 'resolved'],
    ],
    [
      [
        ['10:00', 'Update'],
        ['10:00', 'Resolved'],
      ],
      'resolved',
      ['investigating', 'resolved'],
    ],
  ] as const) {
    const [entry] = readItems({
      ...TODAY,
      description: steps.map(([time, label]) => step(time, label)).join(''),
    });
    t.match(entry, { status, resolvedAt: status === 'resolved' ? at('10:00') : null }, JSON.stringify(steps));
    t.same(
      entry?.updates.map((update) => update.status),
      states,
      JSON.stringify(steps),
    );
  }
  const items = [
    { ...TODAY, link: 'https://status.example.com/incidents/1', guid: 'a', description: 'Investigating - x' },
    { ...TODAY, link: 'https://status.example.com/incidents/1', guid: 'b', description: 'Resolved - y' },
  ];
  for (const order of [items, items.toReversed()])
    t.match(readItems(...order), [{ status: 'resolved', resolvedAt: at('10:00') }]);
});

t.test('a maintenance has a start and an end whichever of its updates are left', async (t) => {
  const step = (time: string, label: string) =>
    `<small>Sep 20, ${time} UTC</small><br><b>${label}</b> - x<br>`;
  const link = 'https://status.example.com/pages/maintenance/5b36dc/1';
  for (const [pubDate, steps, expected] of [
    [
      '10:00:05',
      [
        ['08:00', 'Active'],
        ['10:00', 'Completed'],
      ],
      { state: 'done', startsAt: at('08:00'), endsAt: at('10:00') },
    ],
    ['10:00:05', [['10:00', 'Completed']], { state: 'done', startsAt: at('10:00'), endsAt: at('10:00') }],
    [
      '11:30:00',
      [
        ['08:00', 'Active'],
        ['10:00', 'Resolved'],
      ],
      { state: 'done', startsAt: at('08:00'), endsAt: at('10:00') },
    ],
    [
      '10:00:05',
      [
        ['06:00', 'Scheduled'],
        ['10:00', 'Completed'],
      ],
      { state: 'done', startsAt: at('10:00'), endsAt: at('10:00') },
    ],
    [
      '10:00:05',
      [
        ['06:00', 'Geplant'],
        ['08:00', 'In Bearbeitung'],
        ['10:00', 'Abgeschlossen'],
      ],
      { state: 'done', startsAt: at('08:00'), endsAt: at('10:00') },
    ],
    ['08:00:30', [['08:00', 'Active']], { state: 'running', startsAt: at('08:00'), endsAt: null }],
    ['08:00:30', [['08:00', 'Verifying']], { state: 'running', startsAt: at('08:00'), endsAt: null }],
  ] as const) {
    const description = steps.map(([time, label]) => step(time, label)).join('');
    const [entry] = readItems({
      title: 'Upgrade',
      link,
      pubDate: `Sun, 20 Sep 2026 ${pubDate} GMT`,
      description,
    });
    t.match(entry, { kind: 'maintenance', ...expected }, description);
    t.notOk(
      entry?.updates.some(({ status }) => status === 'investigating' || status === 'monitoring'),
      'a maintenance is identified until its end',
    );
  }
});

t.test('an end in the title counts where the text has no times', async (t) => {
  const description = 'Investigating - We look into it.';
  t.match(readItems({ ...TODAY, title: '[Resolved] Login fails', description }), [
    { title: 'Login fails', status: 'resolved', resolvedAt: at('10:00') },
  ]);
  const dated = '<p>Sep 20, 10:00 UTC<br>Investigating - It is back.</p>';
  t.match(readItems({ ...TODAY, title: '[Resolved] Login fails', description: dated }), [
    { status: 'investigating' },
  ]);
});

t.test('it reads the RSS of Cachet, whose updates begin with their state and time', async (t) => {
  const link = 'https://status.example.com/incidents/0192';
  const description = [
    'Sun, 20 Sep 2026 09:00:00 +0000: <p>Logins fail.</p>',
    '',
    '[Identified] Sun, 20 Sep 2026 09:20:00 +0000: <p>A certificate ended.</p>',
    '',
    '[Fixed] Sun, 20 Sep 2026 09:40:00 +0000: <p>It is renewed.</p>',
  ];
  const told = [
    { at: at('09:00'), status: 'investigating', text: 'Logins fail.' },
    { at: at('09:20'), status: 'identified', text: 'A certificate ended.' },
    { at: at('09:40'), status: 'resolved', text: 'It is renewed.' },
  ];
  for (const [count, label, status, to] of [
    [1, 'Reported', 'investigating', null],
    [1, 'Watching', 'monitoring', null],
    [1, 'Fixed', 'resolved', at('10:00')],
    [2, 'Identified', 'identified', null],
    [3, 'Fixed', 'resolved', at('09:40')],
  ] as const) {
    const lines = description.slice(0, 2 * count - 1).join('\n');
    const [entry, ...more] = readItems({ ...TODAY, link, title: `[${label}] Logins`, description: lines });
    t.match(entry, { key: link, title: 'Logins', status, resolvedAt: to }, `${count} ${label}`);
    if (count > 1) t.match(entry?.updates, told.slice(0, count));
    t.same(more, []);
  }
});

t.test('it reads the RSS of cState, whose category is the end', async (t) => {
  const from = { ...TODAY, pubDate: 'Sun, 20 Sep 2026 08:00:00 +0000', description: 'Logins fail.' };
  const category = '2026-09-20 09:30:00 +0000 UTC';
  for (const title of ['[Resolved] Logins', '[Opgelost] Logins'])
    t.match(readItems({ ...from, title, category }), [
      {
        status: 'resolved',
        startedAt: at('08:00'),
        resolvedAt: at('09:30'),
        updates: [
          { at: at('08:00'), status: 'investigating', text: 'Logins fail.' },
          { at: at('09:30'), status: 'resolved', text: '' },
        ],
      },
    ]);
  t.match(readItems({ ...from, title: 'Logins', category: '<no value>' }), [{ status: 'investigating' }]);
});

t.test('it reads the RSS of Uptime Kuma, which lists what is down', async (t) => {
  const title = 'Shop is down';
  const description = 'Shop has been down since 2026-09-17 10:00:00.123 UTC';
  t.match(readItems({ guid: '7-x', title, description, pubDate: 'Thu, 17 Sep 2026 10:00:00 GMT' }), [
    { title, status: 'investigating', startedAt: Date.UTC(2026, 8, 17, 10), resolvedAt: null },
  ]);
});

t.test('a title that is escaped twice is read', async (t) => {
  for (const [title, read] of [
    ['API &amp;amp; Chat', 'API & Chat'],
    ['It&amp;#39;s slow', "It's slow"],
    ['Tags such as &amp;lt;b&amp;gt; fail', 'Tags such as ‹b› fail'],
    ['AT&amp;T', 'AT&T'],
  ] as const)
    t.match(readItems({ ...TODAY, title }), [{ title: read }], title);
});
