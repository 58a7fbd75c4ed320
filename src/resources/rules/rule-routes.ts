/** Rules of an account: `/api/v1/rules` (docs/alerts.md). */
import type { AlertRule } from '../../domain/alert/rule.ts';
import { formatTime } from '../../domain/durations.ts';
import type { Route } from '../../http/route.ts';
import { named, namedObject, TimeSchema, whole } from '../../http/schema.ts';
import { Type } from '../../json-schema.ts';
import type { RepeatableContext } from '../kit/once.ts';
import { createResourceRoutes } from '../kit/resource-routes.ts';
import { idParameter, readId } from '../kit/write-route.ts';
import { type RuleContext, RuleDocumentSchema, ruleChanges } from './rules.ts';

export const RuleDefinitionSchema = named('RuleDefinition', RuleDocumentSchema);

const RuleSchema = namedObject('Rule', {
  id: whole('Its number.'),
  name: Type.String(),
  created_at: TimeSchema,
  definition: RuleDefinitionSchema,
});

export interface RuleSources {
  readonly context: RuleContext & RepeatableContext;
  readonly siteUrl: string;
}

export function ruleRoutes({ context, siteUrl }: RuleSources): Route[] {
  return createResourceRoutes({
    ...{ changes: ruleChanges, context, siteUrl },
    path: '/api/v1/rules',
    tag: 'Alerts',
    name: 'Rule',
    word: 'rule',
    key: { parameter: idParameter('rule'), read: (text) => readId(text, 'rule') },
    schema: RuleSchema,
    document: RuleDefinitionSchema,
    patch: RuleDocumentSchema,
    maxBytes: 131_072,
    examples: {
      document: { name: 'Everything of mine', own: true, channels: ['Ops'], repeat: '1h' },
      patch: { after: '5m', enabled: false },
    },
    order: { says: 'Oldest first.', place: ['number'] },
    placeOf: ({ id }: AlertRule) => [id],
    view: ({ id, name, createdAt }, definition) => ({
      ...{ id, name },
      created_at: formatTime(createdAt),
      definition,
    }),
    says: {
      list: {
        summary: 'List rules',
        description: 'Which changes are sent to which channels.',
      },
      create: {
        summary: 'Create a rule',
        description:
          'It names services of the account by their domains, public services by their slugs, and channels by their names.',
      },
      get: { summary: 'Get a rule', description: 'Services and channels that are gone are not in it.' },
      change: {
        summary: 'Change a rule',
        description:
          'By a JSON Merge Patch (RFC 7396) of its definition: what is not named stays, null sets the default, and lists are replaced as a whole.',
      },
      remove: {
        summary: 'Delete a rule',
        description: 'Alerts that it has opened stay open until they are over.',
      },
      taken: 'The account has a rule of that name (conflict).',
    },
  });
}
