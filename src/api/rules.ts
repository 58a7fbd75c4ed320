/** Rules of an account: `/api/v1/rules` (docs/alerts.md). */
import { RuleDocumentSchema } from '../app/rule-document.ts';
import {
  addRule,
  type DefinedRule,
  defineRule,
  findRule,
  listRules,
  patchRule,
  type RuleContext,
  removeRule,
} from '../app/rules.ts';
import type { AlertRule } from '../domain/alert/rule.ts';
import { formatTime } from '../domain/durations.ts';
import { parseJson } from '../http/body.ts';
import { readRevisions, revisionTag } from '../http/conditional.ts';
import { type HttpResponse, jsonText, type Route } from '../http/route.ts';
import { named, namedObject, TimeSchema, whole } from '../http/schema.ts';
import { type Static, Type } from '../json-schema.ts';
import type { IdempotencyStore, IdempotentCalls } from '../store/ports/idempotency.ts';
import { privately } from './channels.ts';
import { idParameter, readId } from './keys.ts';
import { IDEMPOTENCY_KEY, once, REPEAT_PROBLEMS } from './once.ts';
import { cutWindow, ownListRoute } from './own-list.ts';
import { ETAG_HEADER, IF_MATCH } from './owned-services.ts';
import { resultOf } from './refused.ts';
import { bearerOf, changed, ownRoute, patchBody, principalOf, REMOVED, writeRoute } from './write-route.ts';

/** Maximum size of a document, bytes. */
const MAX_DOCUMENT_BYTES = 131_072;
const TAG = 'Alerts';
const PATH = '/api/v1/rules';

/** A rule as its owner defines it. */
export const RuleDefinitionSchema = named('RuleDefinition', RuleDocumentSchema);

const RuleSchema = namedObject('Rule', {
  id: whole('Its number.'),
  name: Type.String(),
  created_at: TimeSchema,
  definition: RuleDefinitionSchema,
});

const EXAMPLE = { name: 'Everything of mine', own: true, channels: ['Ops'], repeat: '1h' };
const OWN_ID = idParameter('rule');
const GONE = { 404: 'The account has no such rule (rule_not_found).' };
const STALE = { 412: 'The rule has another revision than If-Match names.' };
const TAKEN = { 409: 'The account has a rule of that name (conflict).' };

/** Sources of the routes. */
export interface RuleSources {
  readonly context: Omit<RuleContext, 'registry'> & {
    readonly registry: RuleContext['registry'] & IdempotencyStore & IdempotentCalls;
  };
  readonly siteUrl: string;
}

/** The routes. */
export function ruleRoutes({ context, siteUrl }: RuleSources): Route[] {
  const { registry } = context;
  const view = ({ rule, document }: DefinedRule): Static<typeof RuleSchema> => ({
    id: rule.id,
    name: rule.name,
    created_at: formatTime(rule.createdAt),
    definition: document,
  });
  const placeOf = ({ rule }: DefinedRule) => [rule.id];
  const answer = async (status: 200 | 201, rule: AlertRule): Promise<HttpResponse> => {
    const channels = await registry.channelsOf(rule.accountId);
    const names = new Map(channels.map(({ id, name }) => [id, name]));
    const body = JSON.stringify(view({ rule, document: defineRule(context, rule, names) }));
    const headers = status === 201 ? { Location: `${siteUrl}${PATH}/${rule.id}` } : {};
    return changed(status, body, headers, revisionTag(rule.revision, body));
  };
  return [
    ownListRoute({
      path: PATH,
      id: 'listRules',
      tag: TAG,
      summary: 'The rules of the account',
      description: 'Which changes are told to which channels.',
      name: 'RuleList',
      member: 'rules',
      item: RuleSchema,
      order: 'Oldest first.',
      place: ['number'],
      placeOf,
      read: async (accountId, window) => cutWindow(await listRules(context, accountId), window, placeOf),
      view,
    }),
    writeRoute({
      path: PATH,
      method: 'POST',
      id: 'createRule',
      tag: TAG,
      summary: 'Creates a rule',
      description:
        'It names services of the account by their domains, public services by their slugs, and channels by their names.',
      parameters: [IDEMPOTENCY_KEY],
      body: { schema: RuleDefinitionSchema, example: EXAMPLE, maxBytes: MAX_DOCUMENT_BYTES },
      answers: {
        201: {
          description: 'The rule.',
          headers: {
            ...ETAG_HEADER,
            Location: { description: 'Where it can be read.', schema: { type: 'string' } },
          },
          schema: RuleSchema,
        },
      },
      problems: {
        403: 'The account has as many rules as it may (account_limit), or the key lacks the scope write (insufficient_scope).',
        ...TAKEN,
        ...REPEAT_PROBLEMS,
      },
      handle: (request) =>
        once<AlertRule>(context, {
          id: 'createRule',
          request,
          secret: null,
          async change(calls) {
            const document = parseJson(request.body);
            const made = { ...context, registry: { ...registry, ...calls } };
            return resultOf(await addRule(made, principalOf(request.key), document));
          },
          answer: (rule) => answer(201, rule),
        }),
    }),
    ownRoute({
      path: `${PATH}/:id`,
      id: 'getRule',
      tag: TAG,
      summary: 'A rule',
      description: 'Services and channels that are gone are not in it.',
      parameters: [OWN_ID],
      answers: { 200: { description: 'The rule.', headers: ETAG_HEADER, schema: RuleSchema } },
      problems: GONE,
      async handle(request) {
        const { accountId } = bearerOf(request);
        const found = resultOf(await findRule(context, { accountId }, readId(request.params.id, 'rule')));
        const body = JSON.stringify(view(found));
        return privately(jsonText(body, revisionTag(found.rule.revision, body)));
      },
    }),
    writeRoute({
      path: `${PATH}/:id`,
      method: 'PATCH',
      id: 'changeRule',
      tag: TAG,
      summary: 'Changes a rule',
      description:
        'By a JSON Merge Patch (RFC 7396) of its definition: what is not named stays, null sets the default, and lists are replaced as a whole.',
      parameters: [OWN_ID, IF_MATCH],
      body: patchBody('RulePatch', RuleDocumentSchema, { after: '5m', enabled: false }, MAX_DOCUMENT_BYTES),
      answers: { 200: { description: 'The rule.', headers: ETAG_HEADER, schema: RuleSchema } },
      problems: { ...GONE, ...TAKEN, ...STALE },
      async handle({ key, body, params, headers }) {
        const [revisions, id] = [readRevisions(headers['if-match']), readId(params.id, 'rule')];
        const rule = resultOf(await patchRule(context, principalOf(key), id, parseJson(body), revisions));
        return await answer(200, rule);
      },
    }),
    writeRoute({
      path: `${PATH}/:id`,
      method: 'DELETE',
      id: 'removeRule',
      tag: TAG,
      summary: 'Removes a rule',
      description: 'What it has told stays open until it is over.',
      parameters: [OWN_ID, IF_MATCH],
      answers: { 204: { description: 'It is removed.' } },
      problems: { ...GONE, ...STALE },
      async handle({ key, params, headers }) {
        const revisions = readRevisions(headers['if-match']);
        resultOf(await removeRule(context, principalOf(key), readId(params.id, 'rule'), revisions));
        return REMOVED;
      },
    }),
  ];
}
