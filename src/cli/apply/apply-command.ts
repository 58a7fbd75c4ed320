/** `upbeat apply`: gives an account the services, status pages, channels, rules and maintenance that files list. */

import { styleText } from 'node:util';
import { type ApplyContext, type ApplyOutcome, type ApplyRefused, applyDocument } from '../../apply/apply.ts';
import type { MemberChange, MemberValue, Plan, PlannedChange } from '../../apply/apply-plan.ts';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/resolve-config.ts';
import { describeRefusal } from '../../domain/refusal.ts';
import { messageOf } from '../../error.ts';
import { CHANNEL_KINDS_TABLE } from '../../notify/channels/kinds-table.ts';
import { destinationsByTrust } from '../../outbound/address-guard.ts';
import { NO_ACCOUNT } from '../../store/ports/account-content.ts';
import type { Registry } from '../../store/ports/registry.ts';
import type { RegistryClient } from '../../store/registry/registry-client.ts';
import { type AccountChoice, changeAccount, findAccount, readAccountChoice } from '../accounts.ts';
import { CommandError, type CommonOptions, UsageError } from '../command.ts';
import { withRegistry } from '../open-stores.ts';
import { printJson, printNote, printText, startProgress } from '../output.ts';
import { loadPublicServices } from '../service-commands.ts';
import { ApplyFileError, type ApplyFiles, readApplyFiles } from './read-files.ts';

const SIGNS = { create: '+', change: '~', remove: '-' } as const;

const COLOURS = { create: 'green', change: 'yellow', remove: 'red' } as const;

/** Values that are longer are cut. */
const MAX_SHOWN_CHARACTERS = 200;

export interface ApplyCommandOptions extends CommonOptions, AccountChoice {
  /** Files, folders, or `-` for standard input. */
  readonly file: readonly string[];
  readonly dryRun?: boolean;
  readonly prune?: boolean;
  /** Address of a server, whose API applies the files with the key in the variable `UPBEAT_KEY`. */
  readonly server?: string;
}

/** Exit status of a dry run whose plan has changes. */
const EXIT_CHANGES = 3;

/** Applies files, and prints what is changed. */
export async function apply(options: ApplyCommandOptions): Promise<void> {
  const { file, server, dryRun = false, prune = false, json = false } = options;
  if (server !== undefined && (options.account ?? options.accountId) !== undefined)
    throw new UsageError('--server applies to the account of the key: leave out --account and --account-id');
  const choice = server === undefined ? readAccountChoice(options) : {};
  const files = readApplyFiles(file, process.env);
  const plan =
    server === undefined
      ? await applyHere(options.config, choice, files, { dryRun, prune })
      : await applyByServer(server, process.env.UPBEAT_KEY, files, { dryRun, prune });
  printPlan(hideValues(plan, files.fromEnvironment), { dryRun, json });
}

/** Applies files to the registry of the configuration, on behalf of the operator. */
async function applyHere(
  config: string,
  choice: AccountChoice,
  files: ApplyFiles,
  { dryRun, prune }: { readonly dryRun: boolean; readonly prune: boolean },
): Promise<Plan> {
  const outcome = await withRegistry(config, async (registry, settings) => {
    const context = applyContextOf(registry, settings);
    const run = async (accountId: number, isDry: boolean): Promise<ApplyOutcome> => {
      const progress = createProgress();
      const { document } = files;
      const applied = { dryRun: isDry, prune, onProgress: progress.note };
      return await applyDocument(context, { role: 'operator', accountId }, document, applied).finally(
        progress.end,
      );
    };
    if (dryRun) return await run(await findKnown(registry, choice), true);
    return await changeAccount(registry, choice, ({ id }) => run(id, false));
  });
  return outcome.ok ? outcome.value : failBy(outcome, files);
}

/** The context of the operator's `apply` in an installation. */
export function applyContextOf(
  registry: RegistryClient,
  { catalogue, checks, limits, http }: Config,
): ApplyContext & { readonly registry: RegistryClient } {
  return {
    registry,
    loadPublic: () => loadPublicServices(registry, catalogue.file),
    resolve: async () => [],
    destinations: destinationsByTrust(checks, registry),
    bounds: { usual: checks, minIntervalMs: limits.minIntervalMs, regions: () => [] },
    kinds: CHANNEL_KINDS_TABLE,
    now: systemClock.now,
    siteUrl: http.siteUrl.replace(/\/+$/, ''),
  };
}

/** The number of the account of the options; `NO_ACCOUNT`: no account has that name yet. */
export async function findKnown(registry: Registry, choice: AccountChoice): Promise<number> {
  if (choice.accountId !== undefined) return (await findAccount(registry, choice)).id;
  return (await registry.listAccounts()).find(({ name }) => name === choice.account)?.id ?? NO_ACCOUNT;
}

/** Prints a plan, and sets the exit status of a dry run. */
export function printPlan(
  plan: Plan,
  { dryRun, json }: { readonly dryRun: boolean; readonly json: boolean },
): void {
  if (json) printJson(planView(plan, dryRun));
  else {
    if (plan.changes.length > 0) console.log(describeChanges(plan.changes, process.stdout));
    printText(describeCounts(plan, !dryRun));
  }
  if (dryRun && plan.changes.length > 0) process.exitCode = EXIT_CHANGES;
}

function failBy({ refusals, made }: ApplyRefused, files: ApplyFiles): never {
  const lines = refusals.map(({ field, refusal }) => files.describe(field, describeRefusal(refusal)));
  if (made.length === 0) throw new ApplyFileError([...lines, 'Nothing is changed.']);
  for (const change of made)
    printNote(`done before the refusal: ${change.action} ${change.type} ${change.key}`);
  throw new ApplyFileError([...lines, `${made.length} changes are made; the next run makes the others.`]);
}

function createProgress() {
  let progress: ReturnType<typeof startProgress> | null = null;
  return {
    note(done: number, total: number): void {
      progress ??= startProgress(total, 'changes', systemClock);
      progress.note(done);
    },
    end: () => progress?.end(),
  };
}

/** The changes as lines: what is created (+), changed (~) and removed (-). */
function describeChanges(changes: readonly PlannedChange[], stream: NodeJS.WriteStream): string {
  return changes
    .map((change) => {
      const { action, type, key, members } = change;
      const head = `${SIGNS[action]} ${type} ${key}`;
      const lines = [head, ...members.map((member) => `    ${describeMember(member, action === 'create')}`)];
      return lines.map((line) => styleText(COLOURS[action], line, { stream })).join('\n');
    })
    .join('\n');
}

/** `2 to create, 1 to change, 9,997 unchanged`, or for changes that are made `2 created, 1 changed, 9,997 unchanged`. */
function describeCounts({ changes, unchanged }: Plan, isMade: boolean): string {
  const words = (['create', 'change', 'remove'] as const).flatMap((action) => {
    const count = changes.filter((change) => change.action === action).length;
    if (count === 0) return [];
    return `${count.toLocaleString('en')} ${isMade ? `${action.replace(/e$/, '')}ed` : `to ${action}`}`;
  });
  return [...words, `${unchanged.toLocaleString('en')} unchanged`].join(', ');
}

function planView({ changes, unchanged }: Plan, isDryRun: boolean) {
  return { dry_run: isDryRun, changes, unchanged };
}

/** The plan without the values of the members at these paths, which come from the environment. */
function hideValues(plan: Plan, paths: readonly string[]): Plan {
  if (paths.length === 0) return plan;
  const hidden = paths.map((path) => `${path}.`);
  const changes = plan.changes.map((change) => {
    const members = change.members.map((member): MemberChange => {
      const path = `${change.path}.${member.field}.`;
      const { field } = member;
      return hidden.some((one) => one.startsWith(path)) ? { field, secret: true } : member;
    });
    return { ...change, members };
  });
  return { ...plan, changes };
}

function describeMember({ field, before, after, secret }: MemberChange, isNew: boolean): string {
  if (secret === true) return `${field}: ${isNew ? 'set' : 'changed'}`;
  if (isNew) return `${field}: ${show(after)}`;
  return `${field}: ${show(before)} -> ${show(after)}`;
}

function show(value: MemberValue): string {
  if (value === undefined) return 'default';
  const text = typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS - 3)}...`;
}

/** The time that a server may take, milliseconds. */
const REQUEST_TIMEOUT_MS = 120_000;

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
async function applyByServer(
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
