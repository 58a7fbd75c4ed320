/** `upbeat pages`: manages status pages of accounts without a browser. */
import { readFileSync } from 'node:fs';
import { removePage } from '../app/defined-pages.ts';
import { readPageDomain, setPageDomain, verifyPageDomain } from '../app/page-domains.ts';
import { checkReaders } from '../app/page-readers.ts';
import {
  addStatusPage,
  changePageLook,
  type PageContext,
  type PageInput,
  readPageInput,
} from '../app/status-pages.ts';
import { systemClock } from '../clock.ts';
import { formatTime } from '../domain/durations.ts';
import { countServices, type PageAccess } from '../domain/status-page.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { ownerPolicy } from '../outbound/owner-destinations.ts';
import { userAgentOf } from '../outbound/send-request.ts';
import type { Registry } from '../store/ports/registry.ts';
import { VERSION } from '../version.ts';
import { pageUrl } from '../view/page-address.ts';
import { type AccountChoice, changeAccount, readAccountChoice } from './accounts.ts';
import type { CommonOptions } from './command.ts';
import { filterRows, type ListOptions, NOTHING_MATCHES } from './list-filters.ts';
import { serviceFinder, withRegistry } from './open-stores.ts';
import { OPERATOR, resultOf } from './outcome.ts';
import { printJson, printNote, printRows } from './output.ts';

/** Options of `pages add`. */
export interface AddPageOptions extends AccountChoice {
  readonly title: string;
  readonly text?: string;
  /** File of the picture. */
  readonly logo?: string;
  /** File of the icon in tabs. */
  readonly favicon?: string;
  /** Each `NAME: slug, slug`, or slugs alone. */
  readonly group?: readonly string[];
  readonly access?: PageAccess;
  readonly passwordFile?: string;
}

/** Prints all pages. */
export async function listPages({ config, json = false, ...filters }: ListOptions): Promise<void> {
  const rows = await withRegistry(config, async (registry, { http }) =>
    (await registry.listPages()).map((page) => ({
      slug: page.slug,
      title: page.title,
      account: page.accountName,
      services: countServices(page.groups),
      access: page.access ?? 'public',
      changed: formatTime(page.updatedAt),
      url: pageUrl(http.siteUrl.replace(/\/+$/, ''), page),
    })),
  );
  const empty = 'There are no status pages. Make one: upbeat pages add SLUG --account NAME --title TITLE';
  const shown = filterRows(rows, filters, ['slug', 'title', 'account']);
  printRows(shown, json, rows.length === 0 ? empty : NOTHING_MATCHES);
}

/** Creates a page; prints its slug, or its properties as JSON. */
export async function addPage(slug: string, options: CommonOptions & AddPageOptions): Promise<void> {
  const { config, title, text = '', group = [], json = false } = options;
  const read = (file: string | undefined) => (file === undefined ? null : readFileSync(file));
  const pictures = { logo: read(options.logo), favicon: read(options.favicon) };
  const { access = 'public' } = options;
  const readers = { access, password: readPasswordFile(options.passwordFile) };
  const input = { slug, title, text, groups: group.map(readGroup), ...pictures, ...readers };
  // The arguments are validated first, so that wrong ones open no registry.
  resultOf(readPageInput(input));
  resultOf(checkReaders(input, null));
  const choice = readAccountChoice(options);
  const { page, owner, url } = await withRegistry(config, async (registry, { http }) => {
    const context = await contextOf(registry);
    return await changeAccount(registry, choice, async (owner) => {
      const principal = { role: 'operator', accountId: owner.id } as const;
      const page = resultOf(await addStatusPage(context, principal, input));
      return { page, owner, url: pageUrl(http.siteUrl.replace(/\/+$/, ''), page) };
    });
  });
  const view = { slug: page.slug, title: page.title, account: owner.name, url };
  if (json) printJson(view);
  else console.log(page.slug);
}

/** Sets who sees a page. */
export async function changeAccess(
  slug: string,
  access: PageAccess,
  { config, passwordFile }: CommonOptions & Pick<AddPageOptions, 'passwordFile'>,
): Promise<void> {
  const password = readPasswordFile(passwordFile);
  await withRegistry(config, async (registry) => {
    const page = await registry.findPage(slug.toLowerCase());
    const look = { colour: page?.colour ?? '', access, password };
    const { revision = 0 } = page ?? {};
    resultOf(await changePageLook(await contextOf(registry), OPERATOR, slug, revision, look));
  });
  printNote(`${slug.toLowerCase()}: access ${access}`);
}

/** The first line of a file with a password; empty: there is none. */
function readPasswordFile(file: string | undefined): string {
  if (file === undefined) return '';
  const [line = ''] = readFileSync(file === '-' ? process.stdin.fd : file, 'utf8').split(/\r?\n/, 1);
  return line;
}

/**
 * Sets the domain of a page, `none` for none, or verifies it where `domain` is absent. Prints what proves a domain that is not
 * verified.
 */
export async function changeDomain(
  slug: string,
  domain: string | undefined,
  { config }: CommonOptions,
): Promise<void> {
  const wanted = domain === 'none' ? '' : domain;
  if (wanted !== undefined) resultOf(readPageDomain(wanted));
  await withRegistry(config, async (registry, settings) => {
    const { openDomainProofs } = await import('../auth/domain-proof.ts');
    const { siteUrl } = settings.http;
    const { nameservers } = settings.checks;
    const outbound = createOutbound({ userAgent: userAgentOf(VERSION, siteUrl), nameservers }, systemClock);
    const policy = ownerPolicy(settings.checks);
    try {
      const proofs = await openDomainProofs({ registry, outbound, policy, nameservers });
      const context = { registry, proofs, siteUrl, now: systemClock.now };
      const page = await registry.findPage(slug.toLowerCase());
      if (wanted === undefined) {
        const { domain: proved } = resultOf(await verifyPageDomain(context, OPERATOR, slug));
        printNote(`${proved?.name} is verified`);
        return;
      }
      resultOf(await setPageDomain(context, OPERATOR, slug, page?.revision ?? 0, wanted));
      const changed = await registry.findPage(slug.toLowerCase());
      if (changed?.domain === undefined) return printNote(`${slug.toLowerCase()} has no domain of its own`);
      if (changed.domain.provedAt !== null) return printNote(`${changed.domain.name} is verified`);
      const { recordName, word, fileUrl } = proofs.instructions(changed.accountId, changed.domain.name);
      console.log(`TXT record ${recordName}\nor file   ${fileUrl}\ncontent   ${word}`);
    } finally {
      outbound.close();
    }
  });
}

/** Removes an account's page. */
export async function endPage(slug: string, { config }: CommonOptions): Promise<void> {
  await withRegistry(config, async (registry) =>
    resultOf(await removePage({ registry }, OPERATOR, slug, null)),
  );
  printNote(`${slug.toLowerCase()} is removed`);
}

async function contextOf(registry: Registry): Promise<PageContext> {
  return { registry, findService: await serviceFinder(registry), now: systemClock.now };
}

/** A group as the command line names it: `Web: github, shop-example-org`, or slugs alone. */
export function readGroup(text: string): PageInput['groups'][number] {
  const colon = text.lastIndexOf(':');
  const slugs = text.slice(colon + 1).split(',');
  return {
    name: colon === -1 ? '' : text.slice(0, colon),
    services: slugs.map((slug) => slug.trim()).filter((slug) => slug !== ''),
  };
}
