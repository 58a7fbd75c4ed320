/** What each kind of client sees while a part is broken: the table that `fault-threads.test.ts` and `fault-servers.test.ts` try and docs/reliability.md shows. */

/** Kinds of clients, as the table names them. */
export const CLIENTS = {
  status: 'API: a status',
  history: 'API: history',
  badge: 'badge',
  figure: 'badge of uptime',
  page: 'page, no JavaScript',
  heartbeat: 'heartbeat',
  write: 'owner writes',
  events: 'event stream',
  metrics: '`/metrics`',
  readyz: '`/readyz`',
} as const;

/** A kind of client. */
export type ClientKind = keyof typeof CLIENTS;

/** The words of the table, and what they mean. */
export const SEEN = {
  '200': 'everything is as ever',
  '200 without history': 'it says that past checks cannot be read',
  '200 old': 'what was read before, with its `Age`',
  '503 unavailable': 'refused with this code and `Retry-After`',
  '503 history_unavailable': 'refused with this code and `Retry-After`',
  '503 storage_full': 'refused with this code and `Retry-After`',
  tells: 'a change of status is told at once',
  later: 'a change of status is told when the part is back',
} as const;

/** What clients see: the words of {@link SEEN}, and for `readyz` the parts that it names as degraded. */
export type Row = Readonly<Record<Exclude<ClientKind, 'readyz'>, keyof typeof SEEN> & { readyz: string }>;

/** Nothing is broken. */
export const WELL: Row = {
  status: '200',
  history: '200',
  badge: '200',
  figure: '200',
  page: '200',
  heartbeat: '200',
  write: '200',
  events: 'tells',
  metrics: '200',
  readyz: '–',
};

/** A part that is broken, and what each kind of client sees meanwhile. */
export interface Fault {
  readonly name: string;
  readonly row: Row;
}

/** A fault, with what differs from {@link WELL}. */
const fault = (name: string, differs: Partial<Row>): Fault => ({ name, row: { ...WELL, ...differs } });

/** What clients see while past checks cannot be read: who asks for them is refused within 3 s. */
const WITHOUT_HISTORY = { history: '503 history_unavailable', page: '200 without history' } as const;

/** Faults of a program with stores in its data directory, by the part that is broken. */
export const EMBEDDED_FAULTS = {
  registry: fault('registry thread hangs', {
    page: '503 unavailable',
    heartbeat: '503 unavailable',
    write: '503 unavailable',
    events: 'later',
    readyz: 'storage',
  }),
  samples: fault('samples thread hangs', { ...WITHOUT_HISTORY, readyz: 'storage' }),
  probe: fault('probe thread hangs', {}),
  feeds: fault('feed thread hangs', {}),
  render: fault('thread that draws hangs', {}),
  mail: fault('mail server hangs', {}),
  disk: fault('disk is full', {
    heartbeat: '503 storage_full',
    write: '503 storage_full',
    events: 'later',
    readyz: 'storage',
  }),
};

/** What clients see while the program does not reach PostgreSQL. */
const WITHOUT_POSTGRES = {
  page: '200 old',
  heartbeat: '503 unavailable',
  write: '503 unavailable',
  events: 'later',
  readyz: 'storage',
} as const;

/** What clients see while the program does not reach InfluxDB. */
const WITHOUT_INFLUX = { ...WITHOUT_HISTORY, readyz: 'influx' } as const;

/** What clients see while the program does not reach Redis: nodes make no checks, since they do not know their shards. */
const WITHOUT_REDIS = { events: 'later', readyz: 'redis' } as const;

/** Faults of the servers of a program that has PostgreSQL, Redis and InfluxDB, by what befalls the road to them. */
export const SERVER_FAULTS = {
  postgres: {
    isCut: fault('PostgreSQL is away', WITHOUT_POSTGRES),
    silent: fault('PostgreSQL hangs', WITHOUT_POSTGRES),
    garbles: fault('PostgreSQL sends garbage', WITHOUT_POSTGRES),
    delayMs: fault('PostgreSQL answers 80 ms late', {}),
  },
  redis: {
    isCut: fault('Redis is away', WITHOUT_REDIS),
    silent: fault('Redis hangs', WITHOUT_REDIS),
    garbles: fault('Redis sends garbage', WITHOUT_REDIS),
  },
  influx: {
    isCut: fault('InfluxDB is away', WITHOUT_INFLUX),
    silent: fault('InfluxDB hangs', WITHOUT_INFLUX),
  },
};

/** The table in Markdown with its words, without a line break at its end. */
export function renderFaultTable(): string {
  const kinds = Object.keys(CLIENTS) as ClientKind[];
  const faults: readonly Fault[] = [EMBEDDED_FAULTS, ...Object.values(SERVER_FAULTS)].flatMap((some) =>
    Object.values<Fault>(some),
  );
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(['broken', ...kinds.map((kind) => CLIENTS[kind])]),
    line(['---', ...kinds.map(() => '---')]),
    ...faults.map(({ name, row }) => line([name, ...kinds.map((kind) => row[kind])])),
    '',
    ...Object.entries(SEEN).map(([word, meaning]) => `- ${word}: ${meaning}`),
  ].join('\n');
}
