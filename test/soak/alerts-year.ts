/**
 * `npm run soak -- alerts-year [--days 365] [--seeds 12] [--rules 20]`: years of the demonstration's fleet through the decisions of
 * alerts, each with other rules, an engine that is killed or away, and people who acknowledge. Prints what was counted, and ends
 * with status 1 if the oracle expected anything else.
 */
import { parseArgs } from 'node:util';
import { runAlertYear, type YearReport } from '../domain/alert/year/alert-year.ts';

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '365' },
    seeds: { type: 'string', default: '12' },
    rules: { type: 'string', default: '20' },
  },
});

const reports: YearReport[] = [];
for (let seed = 1; seed <= Number(values.seeds); seed += 1) {
  const report = runAlertYear({
    days: Number(values.days),
    seed,
    rules: Number(values.rules),
    killed: seed % 2 === 0 ? 0.05 : 0,
    away: seed % 3 === 0 ? 0.02 : 0,
    acknowledged: 0.1,
  });
  const { faults, ...counts } = report;
  reports.push(report);
  console.log(`seed ${seed}: ${JSON.stringify(counts)}, ${faults.length} faults`);
  for (const fault of faults.slice(0, 10)) console.log(`  ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}
const sum = (count: (report: YearReport) => number) =>
  reports.reduce((total, report) => total + count(report), 0);
console.log(
  `${reports.length} × ${values.days} days: ${sum(({ changes }) => changes)} changes, ` +
    `${sum(({ unseen }) => unseen)} failures of the prober alone, ${sum(({ messages }) => messages)} messages, ` +
    `${sum(({ reminders }) => reminders)} reminders, ${sum(({ acknowledgements }) => acknowledgements)} acknowledgements, ` +
    `${sum(({ kills }) => kills)} kills, ${sum(({ absences }) => absences)} absences, ` +
    `states of at most ${Math.max(...reports.map(({ maxStateBytes }) => maxStateBytes))} bytes, ` +
    `${sum(({ faults }) => faults.length)} faults`,
);
