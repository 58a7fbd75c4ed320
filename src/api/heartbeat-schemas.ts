/** The shapes of heartbeats and of what they tell of dependencies, as JSON Schema for the OpenAPI document. */
import { Type } from '@sinclair/typebox';
import { MAX_DEPENDENCIES, MAX_LATENCY_MS, MAX_NAME_LENGTH, STATUS_WORDS } from '../domain/heartbeat-body.ts';
import { SERVICE_STATUSES } from '../domain/status.ts';
import { IncidentServiceSchema, nullable, strict, TimeSchema, whole, words } from './schemas.ts';

const Word = words(STATUS_WORDS, 'In any case of letters.');
const name = { minLength: 1, maxLength: MAX_NAME_LENGTH };

const DOMAIN = Type.String({
  description:
    'Host name of the reporting service, of at least two labels, without scheme, port or path; no IP address and no private suffix such as .local. IDNA is stored as ASCII. An unknown one is registered for the account of the key.',
  examples: ['shop.example.com'],
});
const TIMESTAMP = Type.Optional(
  Type.String({
    format: 'date-time',
    description:
      'When it was sent: at most 5 minutes ahead of our clock, at most 10 minutes behind. Of two heartbeats that carry one, the older changes nothing when it comes later.',
  }),
);
const RUN = Type.Optional(
  Type.String({ ...name, description: 'Pairs the start of a run with the heartbeat that ends it.' }),
);
/** What a service says of one dependency. */
export const DependencyReportSchema = Type.Object({
  status: Word,
  latency: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_LATENCY_MS, description: 'Milliseconds.' })),
});
const CHECKS = Type.Optional(
  Type.Record(Type.String(name), DependencyReportSchema, {
    maxProperties: MAX_DEPENDENCIES,
    propertyNames: name,
    description: 'What the service says of the things that it depends on, by name.',
  }),
);

/** The body of a heartbeat (contract 2.4). */
export const HeartbeatSchema = Type.Object({
  domain: DOMAIN,
  status: words(STATUS_WORDS, 'The overall status, the word of the owner, in any case of letters.'),
  timestamp: TIMESTAMP,
  checks: CHECKS,
  run: RUN,
});

/** The body of the start of a run. */
export const StartSchema = Type.Object({ domain: DOMAIN, timestamp: TIMESTAMP, run: RUN });

/** The body of a failed run. */
export const FailSchema = Type.Object({ domain: DOMAIN, timestamp: TIMESTAMP, checks: CHECKS, run: RUN });

/** The answer to a heartbeat (contract 4.5). */
export const HeartbeatAnswerSchema = Type.Object(
  {
    ok: Type.Literal(true),
    service: Type.String({ description: 'Name of the service.' }),
    status: words(SERVICE_STATUSES, 'The status of the service after the heartbeat.'),
    response_time: whole('The largest latency that was reported, milliseconds; 0 where none was.'),
    checked_at: TimeSchema,
    slug: Type.Optional(
      Type.String({ description: 'Where the form that follows from the domain stands for another service.' }),
    ),
    run: Type.Optional(
      Type.Object(
        {
          id: Type.String(),
          duration_ms: nullable(whole('Milliseconds since its start.'), 'Null where no start is known.'),
        },
        { ...strict, description: 'Where the heartbeat names a run.' },
      ),
    ),
  },
  strict,
);

/** What a service says of its dependencies. */
export const ServiceDependenciesSchema = Type.Object(
  {
    service: IncidentServiceSchema,
    reported_at: nullable(TimeSchema, 'When the newest report arrived; null: there never was one.'),
    dependencies: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          status: words(SERVICE_STATUSES.slice(0, 3)),
          latency: nullable(whole('Milliseconds.'), 'Null where it is not reported.'),
          since: TimeSchema,
        },
        strict,
      ),
      { description: 'Those of the newest report.' },
    ),
    changes: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          status: nullable(words(SERVICE_STATUSES.slice(0, 3)), 'Null: from then on it was not reported.'),
          at: TimeSchema,
        },
        strict,
      ),
      { description: 'Newest first.' },
    ),
  },
  strict,
);

/** Dependencies that services report as failing now. */
export const DependenciesSchema = Type.Object(
  {
    dependencies: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'In lower case.' }),
          services: whole('How many services report it.'),
          since: TimeSchema,
        },
        strict,
      ),
      { description: 'The one that most services report first, then by name.' },
    ),
    total: whole('Dependencies that fail.'),
    limit: whole('The limit that was used.'),
    offset: whole('The offset that was used.'),
  },
  strict,
);
