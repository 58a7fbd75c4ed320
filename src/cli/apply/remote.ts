/** `upbeat apply --server`: applies files by the API of a server, with the key in `UPBEAT_KEY`. */
import type { Plan } from '../../apply/apply-plan.ts';
import { messageOf } from '../../error.ts';
import { CommandError, UsageError } from '../command.ts';
import { printNote } from '../output.ts';
import { ApplyFileError, type ApplyFiles } from './read-files.ts';

/** The time that a server may take, milliseconds. */
const REQUEST_TIMEOUT_MS = 120_000;

/** The response of the API. */
interface PlanResponse extends Plan {
  readonly unverified: readonly {
    readonly domain: string;
    readonly verification: {
      readonly txt_record: { readonly name: string; readonly value: string };
      readonly file: { readonly url: string };
    };
  }[];
}

/** An error of the API. */
interface Problem {
  readonly detail?: string;
  readonly errors?: readonly { readonly field: string | null; readonly message: string }[];
}

/**
 * Applies the document of files. Domains that are not verified are noted on standard error. Throws {@link UsageError} without
 * a key or for an invalid address, {@link ApplyFileError} for a refused document, and {@link CommandError} otherwise.
 */
export async function applyByServer(
  server: string,
  key: string | undefined,
  files: ApplyFiles,
  { dryRun, prune }: { readonly dryRun: boolean; readonly prune: boolean },
): Promise<Plan> {
  if (key === undefined || key === '')
    throw new UsageError('put an API key with the scope write into the variable UPBEAT_KEY');
  const address = URL.parse(`${server.replace(/\/+$/, '')}/api/v1/apply`);
  if (address === null || !/^https?:$/.test(address.protocol))
    throw new UsageError('--server takes an address that begins with https:// or http://');
  address.search = new URLSearchParams({ dry_run: dryRun ? '1' : '0', prune: prune ? '1' : '0' }).toString();
  const response = await fetch(address, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(files.document),
    // The key is for this server alone.
    redirect: 'error',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new CommandError(`${server} cannot be reached: ${messageOf(error)}`);
  });
  const text = await response.text();
  if (!/json/.test(response.headers.get('content-type') ?? ''))
    throw new CommandError(`${server} answers with status ${response.status} and no JSON`);
  if (!response.ok) throw errorOf(JSON.parse(text), response.status, files);
  const plan: PlanResponse = JSON.parse(text);
  for (const { domain, verification } of plan.unverified) {
    const { txt_record: record, file } = verification;
    printNote(
      `${domain} is not checked until its domain is verified: set the TXT record ${record.name} to ${record.value}, or put that into ${file.url}`,
    );
  }
  return plan;
}

function errorOf({ errors = [], detail }: Problem, status: number, files: ApplyFiles): Error {
  if (errors.length === 0) return new CommandError(detail ?? `the server answers with status ${status}`);
  const lines = errors.map(({ field, message }) => files.describe(field, message));
  return new ApplyFileError([...lines, 'Nothing is changed.']);
}
