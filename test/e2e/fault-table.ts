/** What each kind of client sees while a part is broken: the table that `fault-threads.test.ts` and `fault-servers.test.ts` try and docs/reliability.md shows. */

/** Kinds of clients, as the table names them. */
export const CLIENTS = {
  status: 'API: a status',
  history: 'API: history',
  badge: 'badge',
  drawn: 'badge that is drawn anew',
  figure: 'badge of uptime',
  page: 'page, no JavaScript',
  heartbeat: 'heartbeat',
  write: 'owner writes',
  signIn: 'sign-in',
  events: 'event stream',
  metrics: '`/metrics`',
  readyz: '`/readyz`',
} as const;

/** A kind of client. */
export type ClientKind = keyof typeof CLIENTS;

/** The words of the table, and what they mean. */
export const SEEN = {
  '200': 'as usual',
  '200 without history': 'it says that past checks cannot be read',
  '200 old': 'what was read before, with its `Age`',
  '503 unavailable': 'refused with this code and `Retry-After`',
  '503 history_unavailable': 'refused with this code and `Retry-After`',
  '503 storage_full': 'refused with this code and `Retry-After`',
  'waits, 200': 'answered after up to 20 s',
  again: 'no connection for the seconds in which the program starts again, then as usual',
  'signs in': 'the provider of identities says who it is, and a session begins',
  '400': 'the page says that the sign-in was refused or took too long, and to try again',
  tells: 'a change of status arrives at once',
  later: 'a change of status arrives when the part is back',
} as const;

/** What clients see: the words of {@link SEEN}, and for `readyz` the parts that it names as degraded. */
export type Row = Readonly<Record<Exclude<ClientKind, 'readyz'>, keyof typeof SEEN> & { readyz: string }>;

/** Nothing is broken. */
export const WELL: Row = {
  status: '200',
  history: '200',
  badge: '200',
  drawn: '200',
  figure: '200',
  page: '200',
  heartbeat: '200',
  write: '200',
  signIn: 'signs in',
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

/** What clients see of a program that starts again. */
const STARTS_AGAIN = {
  status: 'again',
  history: 'again',
  badge: 'again',
  drawn: 'again',
  figure: 'again',
  page: 'again',
  heartbeat: 'again',
  write: 'again',
  signIn: 'again',
  metrics: 'again',
} as const;

/** Faults of a program with stores in its data directory, by the part that is broken. */
export const EMBEDDED_FAULTS = {
  registry: fault('registry thread hangs', {
    page: '503 unavailable',
    heartbeat: '503 unavailable',
    write: '503 unavailable',
    signIn: '503 unavailable',
    events: 'later',
    readyz: 'storage',
  }),
  samples: fault('samples thread hangs', { ...WITHOUT_HISTORY, readyz: 'storage' }),
  probe: fault('probe thread hangs', {}),
  feeds: fault('feed thread hangs', {}),
  render: fault('thread that draws hangs', { drawn: 'waits, 200' }),
  slow: fault('each thread stands still three quarters of the time', {}),
  probeEnds: fault('probe thread ends', {}),
  feedsEnd: fault('feed thread ends', {}),
  renderEnds: fault('thread that draws ends', {}),
  registryEnds: fault('registry thread ends', STARTS_AGAIN),
  samplesEnd: fault('samples thread ends', STARTS_AGAIN),
  mail: fault('mail server hangs', {}),
  disk: fault('disk is full', {
    heartbeat: '503 storage_full',
    write: '503 storage_full',
    signIn: '503 storage_full',
    events: 'later',
    readyz: 'storage',
  }),
};

/** What clients see while the program does not reach PostgreSQL. */
const WITHOUT_POSTGRES = {
  page: '200 old',
  heartbeat: '503 unavailable',
  write: '503 unavailable',
  signIn: '503 unavailable',
  events: 'later',
  readyz: 'storage',
} as const;

/** What clients see while PostgreSQL can only be read. */
const READ_ONLY_POSTGRES = { ...WITHOUT_POSTGRES, page: '200' } as const;

/** What clients see while the disk of PostgreSQL is full. */
const FULL_POSTGRES = {
  heartbeat: '503 storage_full',
  write: '503 storage_full',
  signIn: '503 storage_full',
  events: 'later',
  readyz: 'storage',
} as const;

/** What clients see while the program does not reach InfluxDB. */
const WITHOUT_INFLUX = { ...WITHOUT_HISTORY, readyz: 'influx' } as const;

/** What clients see while the program does not reach Redis: nodes make no checks, since they do not know their shards. */
const WITHOUT_REDIS = { events: 'later', readyz: 'redis' } as const;

/** Faults of the servers of a program that has PostgreSQL, Redis and InfluxDB, by what befalls the server or the road to it. */
export const SERVER_FAULTS = {
  postgres: {
    isCut: fault('PostgreSQL is away', WITHOUT_POSTGRES),
    silent: fault('PostgreSQL hangs', WITHOUT_POSTGRES),
    delayMs: fault('PostgreSQL answers 80 ms late', {}),
    refuses: fault('PostgreSQL refuses connections', WITHOUT_POSTGRES),
    readOnly: fault('PostgreSQL takes no writes', READ_ONLY_POSTGRES),
    garbles: fault('PostgreSQL sends garbage', WITHOUT_POSTGRES),
    full: fault('PostgreSQL has a full disk', FULL_POSTGRES),
  },
  redis: {
    isCut: fault('Redis is away', WITHOUT_REDIS),
    silent: fault('Redis hangs', WITHOUT_REDIS),
    delayMs: fault('Redis answers 80 ms late', {}),
    refuses: fault('Redis refuses connections', WITHOUT_REDIS),
    garbles: fault('Redis sends garbage', WITHOUT_REDIS),
    full: fault('Redis has no room', { ...WITHOUT_REDIS, readyz: 'redis, results' }),
  },
  influx: {
    isCut: fault('InfluxDB is away', WITHOUT_INFLUX),
    silent: fault('InfluxDB hangs', WITHOUT_INFLUX),
    delayMs: fault('InfluxDB answers 80 ms late', {}),
    refuses: fault('InfluxDB refuses its token', WITHOUT_INFLUX),
    garbles: fault('InfluxDB sends garbage', WITHOUT_INFLUX),
    full: fault('InfluxDB has a full disk', { readyz: 'influx' }),
  },
};

/** What clients see while those outside do not answer: a sign-in fails, and letters wait. */
const WITHOUT_OTHERS = { signIn: '400', readyz: 'mail' } as const;

/** What clients see while the prober is offline: statuses stay. */
const OFFLINE = { events: 'later', readyz: 'prober' } as const;

/** Faults of servers that are not the operator's. */
export const OUTSIDE_FAULTS = {
  others: {
    isCut: fault('those outside* are away', WITHOUT_OTHERS),
    silent: fault('those outside* hang', WITHOUT_OTHERS),
    delayMs: fault('those outside* answer 80 ms late', {}),
    refuse: fault('those outside* refuse', WITHOUT_OTHERS),
    garbles: fault('those outside* send garbage', WITHOUT_OTHERS),
    full: fault('those outside* are full', WITHOUT_OTHERS),
  },
  control: {
    isCut: fault('control targets and the site are away', OFFLINE),
    silent: fault('control targets hang, and the site is away', OFFLINE),
    delayMs: fault('control targets answer 80 ms late, and the site is away', {}),
    refuse: fault('control targets refuse, and the site is away', {}),
    garbles: fault('control targets send garbage, and the site is away', OFFLINE),
  },
  names: {
    away: fault('name servers are away', OFFLINE),
    silence: fault('name servers hang', OFFLINE),
    late: fault('name servers answer a second late', {}),
    refuse: fault('name servers refuse', OFFLINE),
    fail: fault('name servers fail', OFFLINE),
    garbage: fault('name servers send garbage', OFFLINE),
  },
};

/** The table in Markdown with its words, without a line break at its end; faults that look alike share a row. */
export function renderFaultTable(): string {
  const kinds = Object.keys(CLIENTS) as ClientKind[];
  const groups = [...Object.values(SERVER_FAULTS), ...Object.values(OUTSIDE_FAULTS)];
  const faults = [EMBEDDED_FAULTS, ...groups].flatMap((some) => Object.values<Fault>(some));
  const alike = Map.groupBy(faults, ({ row }) => kinds.map((kind) => row[kind]).join(' | '));
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(['broken', ...kinds.map((kind) => CLIENTS[kind])]),
    line(['---', ...kinds.map(() => '---')]),
    ...[...alike].map(([seen, some]) => line([some.map(({ name }) => name).join('; '), seen])),
    '',
    ...Object.entries(SEEN).map(([word, meaning]) => `- ${word}: ${meaning}`),
    "- *: the vendors' pages, the mail server, the receiver of a webhook and the provider of identities, all at once",
  ].join('\n');
}
