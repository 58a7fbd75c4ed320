/** `POST /api/v1/apply`: gives an account the services, status pages, channels, rules and maintenance of a document (docs/apply.md). */
import {
  type ApplyContext,
  type ApplyOptions,
  applyDocument,
  MAX_SERVICES_TOGETHER,
} from '../apply/apply.ts';
import { ApplyDocumentSchema, LISTS } from '../apply/apply-lists.ts';
import { AppliedMaintenanceSchema } from '../apply/apply-maintenances.ts';
import { CONTENT_TYPES, type Plan } from '../apply/apply-plan.ts';
import { domainIn } from '../apply/place-services.ts';
import type { PublicServices } from '../apply/present-content.ts';
import { readHostName } from '../domain/host-name.ts';
import type { Service } from '../domain/service.ts';
import { parseJson } from '../http/body.ts';
import { queryParameters } from '../http/openapi.ts';
import { enumParameter, readParameters } from '../http/parameters.ts';
import type { Route } from '../http/route.ts';
import { enumOf, named, namedObject } from '../http/schema.ts';
import { Type } from '../json-schema.ts';
import { ChannelDefinitionSchema } from '../resources/channels/channel-routes.ts';
import {
  type DomainInstructions,
  VerificationSchema,
  viewVerification,
} from '../resources/kit/domain-verification.ts';
import { IDEMPOTENCY_KEY, once, REPEAT_PROBLEMS } from '../resources/kit/once.ts';
import { changed, principalOf, refusedError, resultOf, writeRoute } from '../resources/kit/write-route.ts';
import { PageDefinitionSchema } from '../resources/pages/page-routes.ts';
import { RuleDefinitionSchema } from '../resources/rules/rule-routes.ts';
import type { IdempotencyStore } from '../store/ports/idempotency.ts';
import type { IdempotentCalls } from '../store/ports/registry.ts';
import type { ShownDirectory } from '../view/service-directory.ts';
import { DefinitionSchema } from './owned-services.ts';

/** Maximum size of a document, bytes: a thousand services, and pages with logos. */
const MAX_DOCUMENT_BYTES = 4_194_304;

const QUERY = {
  dry_run: enumParameter(['0', '1'], '`1`: nothing is changed, and the response is the plan.', '0'),
  prune: enumParameter(
    ['0', '1'],
    '`1`: what the account has and the document does not list is removed. A list that the document does not have removes nothing.',
    '0',
  ),
};

const AnyValue = Type.Unsafe<unknown>({ description: 'A value of the document; absent: the default.' });

const PlanSchema = namedObject('ApplyPlan', {
  dry_run: Type.Boolean({ description: 'Whether nothing was changed.' }),
  changes: Type.Array(
    namedObject('PlannedChange', {
      action: enumOf(['create', 'change', 'remove']),
      type: enumOf(CONTENT_TYPES),
      key: Type.String({
        description:
          'The domain of a service, the slug of a page, the name of a channel or rule, or the title of a maintenance.',
      }),
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

const DocumentSchema = named('AccountDocument', {
  ...ApplyDocumentSchema,
  properties: {
    ...ApplyDocumentSchema.properties,
    services: { ...ApplyDocumentSchema.properties.services, items: DefinitionSchema },
    pages: {
      ...ApplyDocumentSchema.properties.pages,
      items: PageDefinitionSchema,
    },
    channels: { ...ApplyDocumentSchema.properties.channels, items: ChannelDefinitionSchema },
    rules: { ...ApplyDocumentSchema.properties.rules, items: RuleDefinitionSchema },
    maintenances: {
      ...ApplyDocumentSchema.properties.maintenances,
      items: named('AppliedMaintenance', AppliedMaintenanceSchema),
    },
  },
});

export interface ApplySources {
  readonly directory: ShownDirectory;
  readonly context: Omit<ApplyContext, 'loadPublic' | 'registry'> & {
    readonly registry: ApplyContext['registry'] & IdempotencyStore & IdempotentCalls;
    readonly proofs: { instructions(accountId: number, domain: string): DomainInstructions };
  };
}

export function applyRoute({ directory, context }: ApplySources): Route {
  const { registry, proofs } = context;
  const loadPublic = async () => publicServices(directory);
  const viewPlan = async (
    { changes, unchanged }: Plan,
    accountId: number,
    listed: Listed,
    isDry: boolean,
  ) => ({
    dry_run: isDry,
    changes,
    unchanged,
    unverified: (await findUnverified(accountId, changes, listed, isDry)).map((domain) => ({
      domain,
      verification: viewVerification(accountId, domain, false, proofs),
    })),
  });
  /** Domains of the document that are not verified, those among them that the plan creates included. */
  const findUnverified = async (
    accountId: number,
    changes: Plan['changes'],
    listed: Listed,
    isDry: boolean,
  ) => {
    const services = await registry.servicesOf(accountId);
    const created = isDry
      ? []
      : changes.filter(({ action, type }) => action === 'create' && type === 'service');
    const unverified = new Set([
      ...services.flatMap(({ domain, verified }) => (verified ? [] : [domain])),
      ...created.map(({ key }) => key),
    ]);
    // Nobody can prove an address, or a name of a private network.
    return [...listed].filter((domain) => unverified.has(domain) && readHostName(domain).ok);
  };
  return writeRoute({
    path: '/api/v1/apply',
    method: 'POST',
    id: 'applyDocument',
    tag: 'Services',
    summary: 'Apply a document of services, status pages, channels, rules and maintenance',
    description:
      'Gives the account of the key the services, status pages, channels, rules and maintenance of the document, and returns what was changed. A service is found by its domain, a page by its slug, a channel or rule by its name, a maintenance by its title; an absent member has its default, and an absent secret of a channel stays, as any secret does that is null. If anything is refused, nothing is changed. Sending the document again changes nothing. Domains of new services are not verified: `unverified` says what to put into DNS or into a file.',
    parameters: [...queryParameters(QUERY), IDEMPOTENCY_KEY],
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
      ...REPEAT_PROBLEMS,
    },
    async handle(request) {
      const { key, body, query } = request;
      const { dry_run: dryRun, prune } = readParameters(query, QUERY);
      const options = { dryRun: dryRun === '1', prune: prune === '1' };
      const make = async (more: Pick<ApplyOptions, 'onPlan' | 'putLast'>, document: unknown) =>
        resultOf(
          await applyDocument({ ...context, loadPublic }, principalOf(key), document, {
            ...options,
            ...more,
          }),
        );
      if (options.dryRun) {
        const document = readBody(body);
        const plan = await make({}, document);
        return changed(200, await viewPlan(plan, key.accountId, listedDomains(document), true));
      }
      return await once<unknown>(context, {
        id: 'applyDocument',
        request,
        secret: null,
        async change({ putContent }, _secret, keep) {
          const document = readBody(body);
          const listed = listedDomains(document);
          const onPlan = async (plan: Plan) =>
            keep(JSON.stringify(await viewPlan(plan, key.accountId, listed, false)));
          // Without a key, a document that changes nothing needs no transaction.
          const isKept = putContent !== registry.putContent;
          return await make(isKept ? { onPlan, putLast: putContent } : { onPlan }, document);
        },
        answer: (_value, plan) => changed(200, plan ?? ''),
      });
    },
  });
}

/** Domains of the services that a document lists. */
type Listed = ReadonlySet<string>;

/** Reads a document. Everything is one transaction, so the lists have a limit here. */
function readBody(body: Uint8Array): unknown {
  const document = parseJson(body);
  const lists: Readonly<Record<string, unknown>> = Object(document);
  const refusals = LISTS.flatMap((member) => {
    const list = lists[member];
    if (!Array.isArray(list) || list.length <= MAX_SERVICES_TOGETHER) return [];
    const problem = { code: 'limit', keyword: 'maxItems', limit: MAX_SERVICES_TOGETHER } as const;
    return [{ field: member, refusal: { code: 'member_invalid', member, problem } as const }];
  });
  if (refusals.length > 0) throw refusedError({ ok: false, refusals });
  return document;
}

function listedDomains(document: unknown): Listed {
  const { services }: { readonly services?: unknown } = Object(document);
  const list: readonly unknown[] = Array.isArray(services) ? services : [];
  return new Set(list.map(domainIn));
}

function publicServices(directory: ShownDirectory): PublicServices {
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
