/** Problems of settings of the mail server that are each valid alone. */
import type { SchemaProblem } from './describe-errors.ts';

/** The settings `alerts.smtp`. */
export interface SmtpSettings {
  /** Null: no e-mail is sent. */
  readonly host: string | null;
  /** Null: the usual port, see {@link smtpPort}. */
  readonly port: number | null;
  /** Null: the server needs no sign-in. */
  readonly user: string | null;
  readonly password: string | null;
  /** `ops@example.com` or `Upbeat <ops@example.com>`; null only where `host` is. */
  readonly from: string | null;
  readonly tls: 'starttls' | 'implicit' | 'none';
}

/** Ports by the words of `alerts.smtp.tls`: submission (RFC 6409), submissions (RFC 8314) and SMTP (RFC 5321). */
const USUAL_PORTS = { starttls: 587, implicit: 465, none: 25 } as const;

export function smtpPort({ port, tls }: SmtpSettings): number {
  return port ?? USUAL_PORTS[tls];
}

/** Returns true if the host is this machine, to which a password may be sent without TLS. */
function isThisMachine(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);
}

/** Finds settings of the mail server that contradict each other. */
export function findSmtpProblems(smtp: SmtpSettings): SchemaProblem[] {
  const { host, user, password, from, tls } = smtp;
  const problem = (name: string, message: string): SchemaProblem => ({
    parts: ['alerts', 'smtp', name],
    message,
  });
  if (host === null) {
    const given = (['user', 'password', 'from', 'port'] as const).filter((name) => smtp[name] !== null);
    return given.map((name) =>
      problem(name, 'is set without alerts.smtp.host: set the host of the mail server, or remove this'),
    );
  }
  const problems: SchemaProblem[] = [];
  if (from === null)
    problems.push(
      problem(
        'from',
        'is missing; alerts.smtp.host needs it: the sender of all letters, such as Upbeat <upbeat@example.org>',
      ),
    );
  if (user !== null && password === null)
    problems.push(problem('password', 'is missing; alerts.smtp.user needs it'));
  if (user === null && password !== null)
    problems.push(problem('user', 'is missing; alerts.smtp.password needs it'));
  if (tls === 'none' && user !== null && !isThisMachine(host))
    problems.push(
      problem(
        'tls',
        'is none, so that the password would cross the network in clear text: set it to starttls or implicit, or remove user and password',
      ),
    );
  return problems;
}

/** Says which port is unusual for `alerts.smtp.tls`; null: none. */
export function describeUnusualPort({ host, port, tls }: SmtpSettings): string | null {
  if (host === null) return null;
  if (port === USUAL_PORTS.implicit && tls !== 'implicit')
    return `is ${port}, where servers begin with TLS at once; set alerts.smtp.tls to implicit, or the port to ${USUAL_PORTS[tls]}`;
  if (tls === 'implicit' && (port === USUAL_PORTS.starttls || port === USUAL_PORTS.none))
    return `is ${port}, where servers begin without TLS; set alerts.smtp.tls to starttls, or the port to ${USUAL_PORTS.implicit}`;
  return null;
}
