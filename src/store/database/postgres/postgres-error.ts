/** Errors of PostgreSQL, each with a description of the problem and its remedy. Messages never contain the password. */
import { describePostgres, type PostgresAddress } from '../../../domain/store-address.ts';
import { errorCodeOf, toError } from '../../../error.ts';
import { RegistryError } from '../registry-error.ts';

/** Error codes of Node.js for a server that cannot be reached. */
const NETWORK_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EPIPE',
  'ENOENT',
]);
/** Messages of the driver for a lost connection. */
const LOST =
  /^(Connection terminated|timeout e|Query read timeout|Client (has|was)|it does not answer|it is a standby now)/;

/** Error codes of Node.js for an untrusted certificate, besides those that begin with `ERR_TLS_`. */
const CERTIFICATE_ERRORS =
  /^(ERR_TLS_|ERR_SSL_|CERT_|SELF_SIGNED_CERT|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_PURPOSE)/;
/** Message of the driver for a server without TLS. */
const WITHOUT_TLS = 'The server does not support SSL connections';

/** The code of PostgreSQL for a server or a session that takes no writes, read_only_sql_transaction. */
export const READ_ONLY = '25006';

/** Returns true if a session was ended during a query, by the server or by the network. The server itself may be available. */
export function isSessionEnd(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = errorCodeOf(error) ?? '';
  // admin_shutdown, idle_session_timeout
  if (['57P01', '57P05', 'ECONNRESET', 'EPIPE'].includes(code)) return true;
  return /^(Connection terminated|Client has encountered)/.test(error.message);
}

/**
 * Converts an error of the driver to one that says what to do; other errors are returned unchanged. Codes are those of
 * PostgreSQL, Appendix A.
 */
export function explainPostgresError(thrown: unknown, target: PostgresAddress): Error {
  const error = toError(thrown);
  if (error instanceof RegistryError) return error;
  const code = errorCodeOf(error) ?? '';
  const where = describePostgres(target);
  const options = { cause: error };
  if (CERTIFICATE_ERRORS.test(code) || error.message === WITHOUT_TLS)
    return new RegistryError(
      'registry_unusable',
      `There is no trusted connection to PostgreSQL at ${where} (${error.message}). Let its certificate name the host of storage.postgres.url and be signed by an authority that is trusted here: NODE_EXTRA_CA_CERTS, or ?sslmode=verify-full&sslrootcert=, names the file of your own.`,
      options,
    );
  const unreachable = () =>
    new RegistryError(
      'storage_unreachable',
      `PostgreSQL at ${where} cannot be reached (${error.message || code}). Start it, or correct storage.postgres.url.`,
      options,
    );
  if (isConnectionLost(error, code)) return unreachable();
  switch (code) {
    case '28P01': // invalid_password
    case '28000': // invalid_authorization_specification
      return new RegistryError(
        'registry_unusable',
        `PostgreSQL at ${where} refuses the user ${target.user} (${error.message}). Correct user and password in storage.postgres.url, or pg_hba.conf of the server.`,
        options,
      );
    case '3D000': // invalid_catalog_name
      return new RegistryError(
        'registry_unusable',
        `PostgreSQL at ${where} has no such database. Make it with "npx upbeat doctor --setup", or with ${createDatabase(target)}.`,
        options,
      );
    case '42501': // insufficient_privilege
      return new RegistryError(
        'registry_unusable',
        `The user ${target.user} lacks a right in ${where} (${error.message}). Give it the rights that docs/cluster.md lists. After an upgrade run "npx upbeat doctor --setup" as the owner of the tables first.`,
        options,
      );
    case READ_ONLY:
      return new RegistryError(
        'storage_unreachable',
        `PostgreSQL at ${where} takes no writes (${error.message}): it is a standby, or is set to read-only. Promote it, name the primary in storage.postgres.url, or let it take writes; Upbeat then goes on by itself.`,
        options,
      );
    case '53100': // disk_full
      return new RegistryError(
        'storage_full',
        `The disk of PostgreSQL at ${where} is full (${error.message}). Make room on it; Upbeat then goes on by itself.`,
        options,
      );
    case 'XX001': // data_corrupted
    case 'XX002': // index_corrupted
    case '58P01': // undefined_file
    case '58030': // io_error
      return new RegistryError(
        'registry_damaged',
        `PostgreSQL at ${where} cannot read what it has stored (${error.message}). See to its disk, and put back a backup, or a standby in its place; if only an index is damaged, REINDEX makes it again.`,
        options,
      );
    case '55P03': // lock_not_available
    case '57014': // query_canceled
    case '25P03': // idle_in_transaction_session_timeout
      return new RegistryError(
        'storage_busy',
        `PostgreSQL at ${where} is held up by another session (${error.message}). See pg_stat_activity for it.`,
        options,
      );
    default:
      return isFatal(error) ? unreachable() : error;
  }
}

/** Returns true if the user lacks a privilege. */
export function isMissingRight(error: unknown): boolean {
  return error instanceof RegistryError && errorCodeOf(error.cause) === '42501';
}

/**
 * The same after the registry was opened. A server that then refuses the password, or whose certificate is not trusted,
 * counts as unavailable.
 */
export function explainAtWork(thrown: unknown, target: PostgresAddress): Error {
  const error = explainPostgresError(thrown, target);
  const isRefused =
    error instanceof RegistryError && error.code === 'registry_unusable' && !isMissingRight(error);
  return isRefused ? new RegistryError('storage_unreachable', error.message, { cause: error.cause }) : error;
}

function isConnectionLost(error: Error, code: string): boolean {
  if (NETWORK_ERRORS.has(code) || code.startsWith('08') || LOST.test(error.message)) return true;
  // For a host with several addresses, each was tried.
  if (error instanceof AggregateError) return true;
  // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped, idle_session_timeout
  if (['57P01', '57P02', '57P03', '57P04', '57P05'].includes(code)) return true;
  // Insufficient resources, such as too_many_connections and out_of_memory; a full disk has words of its own.
  return code.startsWith('53') && code !== '53100';
}

/** Returns true if the server has ended the session, or refused to begin it, whatever its reason. */
function isFatal(error: Error): boolean {
  return 'severity' in error && ['FATAL', 'PANIC'].includes(String(error.severity));
}

/** The statement that makes the database of a target. */
export function createDatabase({ database }: PostgresAddress): string {
  return `CREATE DATABASE ${quoteName(database)} ENCODING 'UTF8' TEMPLATE template0`;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
