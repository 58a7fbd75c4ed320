/** `upbeat pages`: status pages of accounts without a browser. */

import { readFileSync } from 'node:fs';
import { readLogo } from '../app/read-logo.ts';
import { systemClock } from '../clock.ts';
import { formatTime } from '../domain/durations.ts';
import { describeRefusal } from '../domain/refusal-text.ts';
import type { Service } from '../domain/service.ts';
import {
  arrangePage,
  countServices,
  type FieldReading,
  type PageGroup,
  readGroupName,
  readPageSlug,
  readPageText,
  readPageTitle,
} from '../domain/status-page.ts';
import type { StoredLogo } from '../store/ports/status-pages.ts';
import { type AccountChoice, chooseAccount, readAccountChoice } from './accounts.ts';
import { CommandError, type CommonOptions, UsageError } from './command.ts';
import { withRegistry } from './open-stores.ts';
import { printJson, printNote, printRows } from './output.ts';

/** What `pages add` is told. */
export interface AddPageOptions extends AccountChoice {
  readonly title: string;
  readonly text?: string;
  /** File of the picture. */
  readonly logo?: string;
  /** Each `NAME: slug, slug`, or slugs alone. */
  readonly group?: readonly string[];
}

const COLUMNS = ['slug', 'title', 'account', 'services', 'changed', 'url'] as const;

/** Prints all pages. */
export async function listPages({ config, json = false }: CommonOptions): Promise<void> {
  const rows = await withRegistry(config, async (registry, { http }) =>
    (await registry.listPages()).map((page) => ({
      slug: page.slug,
      title: page.title,
      account: page.accountName,
      services: countServices(page.groups),
      changed: formatTime(page.updatedAt),
      url: addressOf(http.siteUrl, page.slug),
    })),
  );
  printRows(
    COLUMNS,
    rows,
    json,
    'There are no status pages. Make one: upbeat pages add SLUG --account NAME --title TITLE',
  );
}

/** Makes a page; prints its slug, or what is known of it as JSON. */
export async function addPage(slug: string, options: CommonOptions & AddPageOptions): Promise<void> {
  const { config, title, text = '', logo, group = [], json = false } = options;
  const picture = logo === undefined ? null : openLogo(logo);
  const said = {
    slug: wellRead(readPageSlug(slug)),
    title: wellRead(readPageTitle(title)),
    text: wellRead(readPageText(text)),
  };
  const choice = readAccountChoice(options);
  const { owner, url } = await withRegistry(config, async (registry, { http }) => {
    const now = systemClock.now();
    const owner = await chooseAccount(registry, choice);
    const accountId = owner.id;
    const states = await registry.loadServices();
    const groups = readGroups(
      group,
      states.map(({ service }) => service),
      accountId,
    );
    try {
      await registry.addPage({ accountId, ...said, groups, now });
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      if (code === 'slug_taken' || code === 'account_limit') throw new CommandError(message);
      throw error;
    }
    if (picture !== null) await registry.putLogo(accountId, said.slug, picture, now);
    return { owner, url: addressOf(http.siteUrl, said.slug) };
  });
  const view = { slug: said.slug, title: said.title, account: owner.name, url };
  if (json) printJson(view);
  else console.log(said.slug);
}

function addressOf(siteUrl: string, slug: string): string {
  return `${siteUrl.replace(/\/+$/, '')}/p/${slug}`;
}

/** Removes an account's page. */
export async function removePage(slug: string, { config }: CommonOptions): Promise<void> {
  const removed = await withRegistry(config, async (registry) => {
    const page = await registry.findPage(slug.toLowerCase());
    return page !== null && (await registry.removePage(page.accountId, page.slug));
  });
  if (!removed) throw new CommandError(`there is no status page "${slug}"; "upbeat pages list" shows them`);
  printNote(`${slug.toLowerCase()} is removed`);
}

/**
 * Groups as the command line names them: `Web: github, shop-example-org`. A page may show services of the catalogue and
 * of its own account. Throws {@link CommandError} for another, and beyond the bounds of a page.
 */
export function readGroups(
  texts: readonly string[],
  services: readonly Service[],
  accountId: number,
): readonly PageGroup[] {
  const bySlug = new Map(services.map((service) => [service.slug, service]));
  let groups: readonly PageGroup[] = [];
  for (const [group, text] of texts.entries()) {
    const colon = text.lastIndexOf(':');
    const name = wellRead(readGroupName(colon === -1 ? '' : text.slice(0, colon)));
    groups = take(arrangePage(groups, { kind: 'add_group', name }));
    for (const slug of text.slice(colon + 1).split(',')) {
      const wanted = slug.trim().toLowerCase();
      if (wanted === '') continue;
      const service = bySlug.get(wanted);
      if (service === undefined || (service.origin === 'owner' && service.accountId !== accountId))
        throw new CommandError(
          `the account cannot show a service "${wanted}"; "upbeat services list" shows them`,
        );
      groups = take(arrangePage(groups, { kind: 'add_service', serviceId: service.id, group }));
    }
  }
  return groups;
}

function take(outcome: ReturnType<typeof arrangePage>): readonly PageGroup[] {
  if (!outcome.ok) throw new UsageError(describeRefusal(outcome.problem));
  return outcome.groups;
}

function wellRead(reading: FieldReading): string {
  if (!reading.ok) throw new UsageError(describeRefusal(reading.problem));
  return reading.value;
}

function openLogo(file: string): StoredLogo {
  const reading = readLogo(readFileSync(file));
  if (!reading.ok) throw new CommandError(`${file}: ${describeRefusal(reading.problem)}`);
  return reading.logo;
}
