/** Settings of the mail server that contradict each other. */
import t from 'tap';
import {
  describeUnusualPort,
  findSmtpProblems,
  type SmtpSettings,
  smtpPort,
} from '../../src/config/smtp-problems.ts';

const NONE: SmtpSettings = {
  host: null,
  port: null,
  user: null,
  password: null,
  from: null,
  tls: 'starttls',
};
const MAIL: SmtpSettings = { ...NONE, host: 'mail.example', from: 'up@example.org' };
const problemsOf = (smtp: SmtpSettings) => findSmtpProblems(smtp).map(({ parts }) => parts.join('.'));

t.test('it names each setting that lacks another, or is for nothing', async (t) => {
  t.same(problemsOf(NONE), []);
  t.same(problemsOf({ ...NONE, user: 'ada', port: 25 }), ['alerts.smtp.user', 'alerts.smtp.port']);
  t.same(problemsOf(MAIL), []);
  t.same(problemsOf({ ...MAIL, from: null, user: 'ada' }), ['alerts.smtp.from', 'alerts.smtp.password']);
  t.same(problemsOf({ ...MAIL, password: 'x' }), ['alerts.smtp.user']);
});

t.test('a password crosses no network in clear text', async (t) => {
  const plain = { ...MAIL, user: 'ada', password: 'x', tls: 'none' } as const;
  t.same(problemsOf(plain), ['alerts.smtp.tls']);
  for (const host of ['localhost', '127.0.0.1', '::1', 'LOCALHOST'])
    t.same(problemsOf({ ...plain, host }), [], host);
  for (const host of ['localhost.example', '1127.0.0.1'])
    t.same(problemsOf({ ...plain, host }), ['alerts.smtp.tls']);
  t.same(problemsOf({ ...plain, user: null, password: null }), []);
});

t.test('it takes the usual port, and names one where servers begin otherwise', async (t) => {
  t.same(
    (['starttls', 'implicit', 'none'] as const).map((tls) => smtpPort({ ...MAIL, tls })),
    [587, 465, 25],
  );
  t.equal(smtpPort({ ...MAIL, port: 2525, tls: 'none' }), 2525);
  t.match(describeUnusualPort({ ...MAIL, port: 465 }), /^is 465, .* implicit, or the port to 587$/);
  t.match(
    describeUnusualPort({ ...MAIL, port: 25, tls: 'implicit' }),
    /^is 25, .* starttls, or the port to 465$/,
  );
  for (const smtp of [MAIL, { ...MAIL, port: 2525 }, { ...NONE, port: 465 }])
    t.equal(describeUnusualPort(smtp), null);
});
