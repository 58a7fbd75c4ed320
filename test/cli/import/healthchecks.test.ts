/** Checks of Healthchecks as heartbeats. */
import t from 'tap';
import { fixture } from './imported-fixture.ts';

t.test('it reads the checks of Healthchecks as heartbeats that keep their UUIDs', async (t) => {
  const { format, services, skipped, notCarried } = fixture('healthchecks.json');
  t.equal(format, 'healthchecks');
  t.match(services, [
    {
      ...{ name: 'Filesystem Backup', domain: 'filesystem-backup', kind: 'heartbeat', paused: false },
      ...{ periodMs: 3_600_000, graceMs: 600_000, schedule: null },
      pushToken: '31365bce-8da9-4729-8ff3-aaa71d56b712',
      texts: { note: 'Runs incremental backup every hour\nTags: backup, fs' },
    },
    {
      ...{
        name: 'Database Backup',
        domain: 'database-backup',
        paused: true,
        periodMs: null,
        graceMs: 1_200_000,
      },
      schedule: { cron: '15 5 * * *', timezone: 'Europe/Riga' },
      pushToken: null,
    },
  ]);
  t.match(skipped, [
    { entry: 'Last day of the month', reason: /"\*-\*~1 12:00 \(UTC\)" is no cron expression/ },
  ]);
  t.same(
    notCarried.map(({ entry, field }) => `${entry}: ${field}`),
    [
      'Filesystem Backup: ping_url',
      'Filesystem Backup: start_kw',
      'Filesystem Backup: success_kw',
      'Filesystem Backup: failure_kw',
      'Filesystem Backup: filter_subject',
      'Filesystem Backup: channels',
      'Database Backup: ping_url',
      'Database Backup: methods',
    ],
  );
});
