/** `POST /api/v1/apply`: gives an account the services and status pages of a document (docs/apply.md). */
import { type ApplyContext, applyDocument, MAX_SERVICES_TOGETHER } from '../app/apply.ts';
import { ApplyDocumentSchema, domainIn, type PublicServices } from '../app/apply-document.ts';
import type { Plan } from '../app/apply-plan.ts';
import type { Service } from '../domain/service.ts';
import { parseJson } from '../http/body.ts';
import { queryParameters } from '../http/openapi.ts';
import { enumParameter, readParameters } from '../http/parameters.ts';
import { HttpError } from '../http/problem.ts';
import type { Route } from '../http/route.ts';
import { enumOf, named, namedObject } from '../http/schema.ts';
import { Type } from '../json-schema.ts';
import type { ServiceDirectory } from '../view/service-directory.ts';
import { PageDefinitionSchema } from './owned-pages.ts';
import {
  DefinitionSchema,
  type DomainInstructions,
  VerificationSchema,
  viewVerification,
} from './owned-services.ts';
import { refusedError } from './refused.ts';
import { changed, principalOf, writeRoute } from './write-route.ts';

/** Maximum size of a document, bytes: a thousand services, and pages with logos. */
const MAX_DOCUMENT_BYTES = 4_194_304;

const QUERY = {
  dry_run: enumParameter(['0', '1'], '`1`: nothing is changed, and the response is the plan.', '0'),
  prune: enumParameter(
    ['0', '1'],
    '`1`: services and pages of the account that the document does not list are removed. A list that the document does not have, `services` or `pages`, removes nothing.',
    '0',
  ),
};

const AnyValue = Type.Unsafe<unknown>({ description: 'A value of the document; absent: the default.' });

const PlanSchema = namedObject('ApplyPlan', {
  dry_run: Type.Boolean({ description: 'Whether nothing was changed.' }),
  changes: Type.Array(
    namedObject('PlannedChange', {
      action: enumOf(['create', 'change', 'remove']),
      type: enumOf(['service', 'page']),
      key: Type.String({ description: 'The domain of a service, or the slug of a page.' }),
      path: Type.Union([Type.String(), Type.Null()], {
        description: 'Its path in the document, such as `services.3`; null: it is not listed.',
      }),
      members: Type.Array(
        namedObject('MemberChange', {
          field: Type.String({ description: 'Path of the member, such as `check.settings.port`.' }),
          before: Type.Optional(AnyValue),
          after: Type.Optional(AnyValue),
          secret: Type.Optional(
            Type.Boolean({ description: 'It is a credential, whose value is not shown.' }),
          ),
        }),
      ),
    }),
  ),
  unchanged: Type.Integer({ minimum: 0, description: 'Listed services and pages that are as listed.' }),
  unverified: Type.Array(
    namedObject('UnverifiedService', { domain: Type.String(), verification: VerificationSchema }),
    { description: 'Listed services that are not checked until their domains are verified.' },
  ),
});

/** The document with the names of its types. */
const DocumentSchema = named('AccountDocument', {
  ...ApplyDocumentSchema,
  properties: {
    ...ApplyDocumentSchema.properties,
    services: { ...ApplyDocumentSchema.properties.services, items: DefinitionSchema },
    pages: {
      ...ApplyDocumentSchema.properties.pages,
      items: PageDefinitionSchema,
    },
  },
});

/** Sources of the route. */
export interface ApplySources {
  readonly directory: ServiceDirectory;
  readonly context: Omit<ApplyContext, 'loadPublic'> & {
    readonly proofs: { instructions(accountId: number, domain: string): DomainInstructions };
  };
}

/** The route. */
export function applyRoute({ directory, context }: ApplySources): Route {
  const { registry, proofs } = context;
  const loadPublic = async () => publicServices(directory);
  const viewPlan = async (
    { changes, unchanged }: Plan,
    accountId: number,
    document: unknown,
    isDry: boolean,
  ) => {
    const listed = listedDomains(document);
    const services = await registry.servicesOf(accountId);
    const unverified = services.filter(({ domain, verified }) => !verified && listed.has(domain));
    return {
      dry_run: isDry,
      changes,
      unchanged,
      unverified: unverified.map(({ domain }) => ({
        domain,
        verification: viewVerification(accountId, domain, false, proofs),
      })),
    };
  };
  return writeRoute({
    path: '/api/v1/apply',
    method: 'POST',
    id: 'applyDocument',
    tag: 'Services',
    summary: 'Applies a document of services and status pages',
    description:
      'Gives the account of the key the services and status pages of the document, and returns what was changed. A service is found by its domain, a page by its slug; an absent member has its default. If anything is refused, nothing is changed. Sending the document again changes nothing. Domains of new services are not verified: `unverified` says what to put into DNS or into a file.',
    parameters: queryParameters(QUERY),
    body: {
      schema: DocumentSchema,
      example: {
        services: [{ domain: 'shop.example.com', name: 'Our shop' }],
        pages: [{ slug: 'our-shop', title: 'Our shop', groups: [{ services: ['shop.example.com'] }] }],
      },
      maxBytes: MAX_DOCUMENT_BYTES,
    },
    answers: { 200: { description: 'What was changed, or would be.', schema: PlanSchema } },
    problems: {
      403: 'A domain belongs to another account or to the public catalogue (forbidden_domain), the account has as many domains as it may (domain_limit), or the key lacks the scope write (insufficient_scope).',
      409: 'The slug of a page is taken, or too many services of owners lead to an address (conflict), or the account has as many pages as it may (account_limit).',
    },
    async handle({ key, body, query }) {
      const { dry_run: dryRun, prune } = readParameters(query, QUERY);
      const document = parseJson(body);
      refuseLong(document);
      const isDry = dryRun === '1';
      const options = { dryRun: isDry, prune: prune === '1' };
      const outcome = await applyDocument({ ...context, loadPublic }, principalOf(key), document, options);
      if (!outcome.ok) throw refusedError(outcome);
      return changed(200, await viewPlan(outcome.value, key.accountId, document, isDry));
    },
  });
}

/** Everything is one transaction, so the lists have a limit here. */
function refuseLong(document: unknown): void {
  const lists: Readonly<Record<string, unknown>> = Object(document);
  for (const name of ['services', 'pages']) {
    const list = lists[name];
    if (Array.isArray(list) && list.length > MAX_SERVICES_TOGETHER)
      throw new HttpError('invalid_body', `${name} has at most ${MAX_SERVICES_TOGETHER} members.`);
  }
}

function listedDomains(document: unknown): ReadonlySet<string> {
  const { services }: { readonly services?: unknown } = Object(document);
  const list: readonly unknown[] = Array.isArray(services) ? services : [];
  return new Set(list.map(domainIn));
}

function publicServices(directory: ServiceDirectory): PublicServices {
  const onlyPublic = (service: Service | null) => (service?.origin === 'catalogue' ? service : null);
  return {
    find(name) {
      if (!name.includes('.')) return onlyPublic(directory.bySlug(name));
      const found = directory.byCatalogueDomain(name);
      return found?.domain === name ? found : null;
    },
    findById: (id) => onlyPublic(directory.byId(id)),
    // Only the operator's domains are compared with it; the registry refuses those of owners.
    domains: new Set(),
  };
}
