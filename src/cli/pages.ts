/** `upbeat pages`: manages status pages of accounts without a browser. */

import { readFileSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import { formatTime } from '../domain/durations.ts';
import {
  countServices,
  PAGE_TEXT_NAMES,
  type PageAccess,
  type PageTexts,
  type PictureUse,
} from '../domain/status-page.ts';
import { ownerPolicy } from '../outbound/address-guard.ts';
import { createOutbound } from '../outbound/outbound.ts';
import { userAgentOf } from '../outbound/send-request.ts';
import { anyRevision } from '../resources/kit/create-changes.ts';
import { viewVerification } from '../resources/kit/domain-verification.ts';
import { entryOf, pictureUrlOf, readPageDocument } from '../resources/pages/page-document.ts';
import { FORM_OF_DOMAIN, readPageDomain, verifyPageDomain } from '../resources/pages/page-domains.ts';
import { checkReaders, type PageContext, pageChanges } from '../resources/pages/pages.ts';
import type { Registry } from '../store/ports/registry.ts';
import { VERSION } from '../version.ts';
import { pageUrl } from '../view/page-address.ts';
import { type AccountChoice, changeAccount, type NamedAccount, readAccountChoice } from './accounts.ts';
import { type CommonOptions, filterRows, type ListOptions, NOTHING_MATCHES } from './command.ts';
import { serviceFinders, withRegistry } from './open-stores.ts';
import { OPERATOR, resultOf } from './outcome.ts';
import { printJson, printNote, printRows } from './output.ts';

export interface AddPageOptions extends AccountChoice, Partial<PageTexts> {
  /** File of the picture. */
  readonly logo?: string;
  /** File of the icon in tabs. */
  readonly favicon?: string;
  /** Each `NAME: slug, slug=Name on the page`, or slugs alone. */
  readonly group?: readonly string[];
  readonly access?: PageAccess;
  readonly passwordFile?: string;
}

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
      ...textsOf(page),
    })),
  );
  const empty = 'There are no status pages. Make one: upbeat pages add SLUG --account NAME --title TITLE';
  const shown = filterRows(rows, filters, ['slug', 'title', 'account']);
  const columns = ['slug', 'title', 'account', 'services', 'access', 'changed', 'url'];
  printRows(shown, json, rows.length === 0 ? empty : NOTHING_MATCHES, { columns });
}

function textsOf(of: Partial<PageTexts>): Partial<PageTexts> {
  return Object.fromEntries(
    PAGE_TEXT_NAMES.flatMap((name) => (of[name] === undefined ? [] : [[name, of[name]]])),
  );
}

/** Creates a page; prints its slug, or its properties as JSON. */
export async function addPage(slug: string, options: CommonOptions & AddPageOptions): Promise<void> {
  const { config, group = [], json = false } = options;
  const document = {
    ...{ slug, ...textsOf(options), groups: group.map(readGroup) },
    ...readPicture('logo', options.logo),
    ...readPicture('favicon', options.favicon),
    access: options.access ?? 'public',
    password: readPasswordFile(options.passwordFile),
  };
  // The arguments are validated first, so that wrong ones open no registry.
  resultOf(readPageDocument(document, { find: (name) => name }));
  resultOf(checkReaders(document, null));
  const choice = readAccountChoice(options);
  const { page, owner, url } = await withRegistry(config, async (registry, { http }) => {
    const siteUrl = http.siteUrl.replace(/\/+$/, '');
    const context = await contextOf(registry, siteUrl);
    const add = async (owner: NamedAccount) => {
      const principal = { role: 'operator', accountId: owner.id } as const;
      const page = resultOf(await pageChanges.add(context, principal, document));
      return { page, owner, url: pageUrl(siteUrl, page) };
    };
    return await changeAccount(registry, choice, add, 'first');
  });
  const view = { slug: page.slug, title: page.title, account: owner.name, url };
  if (json) printJson(view);
  else console.log(page.slug);
}

/** Sets who sees a page. */
export async function changeAccess(
  slug: string,
  access: PageAccess,
  { config, passwordFile }: CommonOptions & AddPageOptions,
): Promise<void> {
  const password = readPasswordFile(passwordFile);
  await withRegistry(config, async (registry, { http }) => {
    const context = await contextOf(registry, http.siteUrl);
    resultOf(await pageChanges.patch(context, OPERATOR, anyRevision(slug), { access, password }));
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
  { config, json = false }: CommonOptions,
): Promise<void> {
  const wanted = domain === 'none' ? '' : domain;
  if (wanted !== undefined) resultOf(readPageDomain(wanted, FORM_OF_DOMAIN));
  await withRegistry(config, async (registry, settings) => {
    const { openDomainProofs } = await import('../auth/domain-proof.ts');
    const { siteUrl } = settings.http;
    const { nameservers } = settings.checks;
    const outbound = createOutbound({ userAgent: userAgentOf(VERSION, siteUrl), nameservers }, systemClock);
    const policy = ownerPolicy(settings.checks, false);
    try {
      const proofs = await openDomainProofs({ registry, outbound, policy, nameservers });
      const context = { ...(await contextOf(registry, siteUrl)), registry, proofs };
      const page = resultOf(
        wanted === undefined
          ? await verifyPageDomain(context, OPERATOR, slug)
          : await pageChanges.patch(context, OPERATOR, anyRevision(slug), { custom_domain: wanted }),
      );
      if (page.domain === undefined) {
        if (json) printJson({ slug: page.slug, custom_domain: null });
        else printNote(`${page.slug} has no custom domain`);
        return;
      }
      const { name, provedAt } = page.domain;
      const verification = viewVerification(page.accountId, name, provedAt !== null, proofs);
      const { txt_record: record, file } = verification;
      if (json) printJson({ slug: page.slug, custom_domain: { domain: name, verification } });
      else if (verification.verified) printNote(`${name} is verified`);
      else console.log(`TXT record ${record.name}\nor file   ${file.url}\ncontent   ${file.content}`);
    } finally {
      outbound.close();
    }
  });
}

export async function endPage(slug: string, { config }: CommonOptions): Promise<void> {
  await withRegistry(config, async (registry, { http }) =>
    resultOf(await pageChanges.remove(await contextOf(registry, http.siteUrl), OPERATOR, anyRevision(slug))),
  );
  printNote(`${slug.toLowerCase()} is removed`);
}

async function contextOf(registry: Registry, siteUrl: string): Promise<PageContext> {
  return { registry, siteUrl, now: systemClock.now, ...(await serviceFinders(registry)) };
}

/** The member of a document with the picture in a file. */
function readPicture(use: PictureUse, file: string | undefined): Partial<Record<PictureUse, string>> {
  return file === undefined ? {} : { [use]: pictureUrlOf({ type: 'image/png', bytes: readFileSync(file) }) };
}

/** A group as the command line names it: `Web: github, nas-local=Photos`, or slugs alone. */
export function readGroup(text: string) {
  const colon = text.lastIndexOf(':');
  const slugs = text.slice(colon + 1).split(',');
  return {
    name: colon === -1 ? '' : text.slice(0, colon),
    services: slugs.flatMap((text) => {
      const [slug = '', ...name] = text.split('=');
      return slug.trim() === '' ? [] : [entryOf(slug.trim(), name.join('=').trim())];
    }),
  };
}
