/** The content of a backup or a database of Uptime Kuma: services, channels with their rules, status pages and maintenance. */
import { readKumaMonitor } from './kuma.ts';
import { readKumaChannel } from './kuma-channels.ts';
import { readKumaMaintenance } from './kuma-maintenance.ts';
import {
  Collection,
  channelItems,
  type ImportReading,
  type ListedItem,
  mayShow,
  pageItem,
  ruleItems,
  ruleTimes,
  uniqueNames,
  WHOLE_FILE,
} from './listed-content.ts';
import {
  asText,
  type EntryReading,
  isEmpty,
  type ListedService,
  type Row,
  withNote,
} from './listed-service.ts';

/** The lists of a backup. Members have the names of version 1's backups in JSON, whatever they come from. */
export interface KumaBackup {
  /** With `notificationIDList` and `tags`. */
  readonly monitors: readonly Row[];
  readonly notifications: readonly Row[];
  /** With `groups`, whose members are names and numbers of monitors, `domains` and `incidents`. */
  readonly pages: readonly Row[];
  /** With numbers of `monitors` and slugs of `pages`. */
  readonly maintenances: readonly Row[];
  /** Null: it is not known. */
  readonly timeZone: string | null;
  /** Numbers of members of other lists. */
  readonly left: readonly (readonly [list: string, count: number])[];
}

/** The replacement of other lists. */
const LEFT: Readonly<Record<string, string>> = {
  proxy: 'checks use no proxy',
  api_key: 'create keys by "upbeat keys create"',
  remote_browser: 'checks use no browser',
  user: 'invite them on the dashboard',
  heartbeat: 'the history stays there: uptime counts from now on',
};

const GROUPS_PAGE = 'uptime-kuma-groups';

/** Reads the lists. `now`: epoch milliseconds. */
export function readKumaBackup(backup: KumaBackup, now: number): ImportReading {
  const tree = createTree(backup.monitors);
  const found = new Collection();
  for (const [field, count] of backup.left)
    if (count > 0) found.lose(WHOLE_FILE, field, LEFT[field] ?? 'it has no equal here');
  for (const [index, row] of backup.monitors.entries())
    if (row.type !== 'group') found.add(nameOf(row, index), row, readGrouped(row, tree.above(row)));
  const services = new Map<unknown, ListedService>(
    found.entries.map(({ row, service }) => [row.id ?? row, service]),
  );
  const context: Context = {
    ...{ backup, tree, found },
    serviceOf: (row) => services.get(row.id ?? row),
    servicesOf: (ids) => [
      ...new Set(ids.flatMap(tree.monitorsOf).flatMap((row) => services.get(row.id) ?? [])),
    ],
  };
  return found.reading('uptime-kuma', [
    ...readNotifications(context),
    ...backup.pages.map((row, index) => readPage(row, index, context)),
    ...readGroups(context),
    ...readMaintenances(context, now),
  ]);
}

interface Context {
  readonly backup: KumaBackup;
  readonly tree: ReturnType<typeof createTree>;
  readonly serviceOf: (row: Row) => ListedService | undefined;
  /** The services of monitors, and of those in groups. */
  readonly servicesOf: (ids: readonly unknown[]) => readonly ListedService[];
  readonly found: Collection;
}

function nameOf(row: Row, index: number): string {
  return asText(row.name) ?? asText(row.title) ?? asText(row.url) ?? `entry ${index + 1}`;
}

/** The groups above monitors, and the monitors in groups. */
function createTree(monitors: readonly Row[]) {
  const byId = new Map(monitors.map((row) => [row.id, row]));
  const byParent = Map.groupBy(monitors, ({ parent }) => parent);
  return {
    /** The groups of a monitor, from the inside. */
    above(row: Row): readonly Row[] {
      const found = new Set<Row>();
      let group = isEmpty(row.parent) ? undefined : byId.get(row.parent);
      while (group !== undefined && group !== row && !found.has(group)) {
        found.add(group);
        group = isEmpty(group.parent) ? undefined : byId.get(group.parent);
      }
      return [...found];
    },
    /** A monitor, or those in a group. */
    monitorsOf(id: unknown): readonly Row[] {
      const found = new Set<Row>();
      const add = (row: Row | undefined): void => {
        if (row === undefined || found.has(row)) return;
        found.add(row);
        if (row.type === 'group') for (const child of byParent.get(row.id) ?? []) add(child);
      };
      add(byId.get(id));
      return [...found].filter(({ type }) => type !== 'group');
    },
  };
}

/** The monitor, whose groups and tags become part of its note; one in a paused group is paused. */
function readGrouped(row: Row, groups: readonly Row[]): EntryReading {
  const isPaused = [row, ...groups].some(({ active }) => active === false || active === 0);
  const reading = readKumaMonitor(isPaused ? { ...row, active: false } : row);
  const path = groups.toReversed().map((group, index) => nameOf(group, index));
  const tags = (Array.isArray(row.tags) ? row.tags : []).flatMap((tag: Row | null) => {
    const [name, value] = [asText(tag?.name), asText(tag?.value)];
    return name === null ? [] : [value === null ? name : `${name}: ${value}`];
  });
  return withNote(reading, [
    asText(row.description) ?? '',
    path.length === 0 ? '' : `Group: ${path.join(' / ')}`,
    tags.length === 0 ? '' : `Tags: ${tags.join(', ')}`,
  ]);
}

/** Channels, and for each the rules for the monitors that have it. */
function readNotifications({ backup, tree, serviceOf, found }: Context): ListedItem[] {
  const { skip, lose } = found;
  const channelNames = uniqueNames();
  const ruleNames = uniqueNames();
  const monitors = backup.monitors.filter((row) => serviceOf(row) !== undefined);
  return backup.notifications.flatMap((row, index) => {
    const entry = nameOf(row, index);
    const reading = readKumaChannel(row);
    if ('problem' in reading) {
      skip(entry, reading.problem);
      return [];
    }
    for (const { field, reason } of reading.lost) lose(entry, field, reason);
    const channels = channelItems(() => channelNames(entry), reading);
    const hasIt = ({ notificationIDList: list }: Row) =>
      typeof list === 'object' && list !== null && !isEmpty((list as Row)[String(row.id)]);
    const attached = monitors.filter((monitor) => [monitor, ...tree.above(monitor)].some(hasIt));
    const variants = [...Map.groupBy(attached, variantOf)];
    const isForAll = !isEmpty(row.isDefault) && attached.length === monitors.length && variants.length === 1;
    if (!isEmpty(row.isDefault) && !isForAll)
      lose(
        entry,
        'isDefault',
        'its rules name the services that had it; set "own" in one for all that follow',
      );
    return [
      ...channels,
      ...variants.flatMap(([variant, rows]) =>
        ruleItems(
          () => ruleNames(entry),
          rows.flatMap((monitor) => serviceOf(monitor) ?? []),
          channels,
          {
            ...(isForAll ? { own: true } : {}),
            ...membersOf(variant),
            ...(isEmpty(row.active) && row.active !== undefined ? { enabled: false } : {}),
          },
        ),
      ),
    ];
  });
}

function membersOf(variant: string): object {
  const [repeat = '', certificate] = variant.split('|');
  return {
    ...(certificate === undefined ? { events: ['down', 'up'] } : {}),
    ...(repeat === '' ? {} : { repeat }),
  };
}

/** The key of a monitor's rule: the time between reminders, and whether its certificate counts. */
function variantOf(row: Row): string {
  const every = Number(row.resendInterval) * Number(row.interval) * 1_000;
  const { repeat = '' } = ruleTimes(0, every);
  const isWeb = asText(row.url)?.startsWith('https:') === true;
  return isWeb && isEmpty(row.expiryNotification) ? repeat : `${repeat}|certificate`;
}

/** Fields of a status page without an equal. */
const OF_PAGES: Readonly<Record<string, string>> = {
  footerText: 'pages have no footer of their own',
  customCss: 'pages have a brand colour instead of style sheets',
  password: 'set the access "password" of the page (docs/status-pages.md)',
  showTags: 'there are no tags',
  showCertificateExpiry: 'pages do not show the ends of certificates',
  googleAnalyticsTagId: 'pages load nothing of others',
  analyticsId: 'pages load nothing of others',
  incidents: 'post incidents on the dashboard (docs/incidents.md)',
  rssTitle: 'the feed has the title of the page',
  showOnlyLastHeartbeat: 'pages show the last days',
  links: 'a public service is linked to its page here',
};

function readPage(row: Row, index: number, { servicesOf, found }: Context): ListedItem {
  const { lose } = found;
  const slug = asText(row.slug)?.toLowerCase() ?? `page-${index + 1}`;
  const title = asText(row.title) ?? slug;
  for (const [field, reason] of Object.entries(OF_PAGES))
    if (!isEmpty(row[field])) lose(title, field, reason);
  const theme = asText(row.theme) ?? 'auto';
  if (theme === 'dark' || theme === 'light') lose(title, 'theme', 'pages follow the choice of their readers');
  if (row.searchEngineIndex === 0) lose(title, 'searchEngineIndex', 'public pages may be found');
  const [domain, ...others] = (Array.isArray(row.domains) ? row.domains : []).flatMap(
    (one) => asText(one) ?? [],
  );
  if (others.length > 0) lose(title, 'domains', 'a page has at most one domain');
  const logo = asText(row.logo);
  if (logo === null && !isEmpty(row.icon) && !/\/icon\.svg$/.test(String(row.icon)))
    lose(title, 'icon', 'the picture is not beside the file');
  const text = asText(row.description);
  const groups = (Array.isArray(row.groups) ? row.groups : []).map((group: Row) => ({
    name: asText(group.name) ?? '',
    services: servicesOf(Array.isArray(group.monitors) ? group.monitors : []).filter((service) =>
      mayShow(service, title, found),
    ),
  }));
  return pageItem(
    {
      ...{ slug, title },
      ...(text === null ? {} : { text }),
      ...(logo === null ? {} : { logo }),
      ...(isEmpty(row.published) ? { access: 'members' } : {}),
      ...(domain === undefined ? {} : { custom_domain: domain }),
    },
    groups,
  );
}

/** Groups of monitors as a page for members. */
function readGroups({ backup, tree, servicesOf }: Context): ListedItem[] {
  const groups = backup.monitors
    .filter(({ type }) => type === 'group')
    .map((row, index) => ({
      name: [...tree.above(row).toReversed(), row].map((one) => nameOf(one, index)).join(' / '),
      services: servicesOf(
        backup.monitors
          .filter(({ parent, type }) => parent === row.id && type !== 'group')
          .map(({ id }) => id),
      ),
    }))
    .filter(({ services }) => services.length > 0);
  const page = { slug: GROUPS_PAGE, title: 'Groups of Uptime Kuma', access: 'members' };
  return groups.length === 0 ? [] : [pageItem(page, groups)];
}

function readMaintenances({ backup, servicesOf, found }: Context, now: number): ListedItem[] {
  const { skip, lose } = found;
  return backup.maintenances.flatMap((row, index) => {
    const entry = nameOf(row, index);
    const zone = asText(row.timezone);
    const reading = readKumaMaintenance(row, backup.timeZone ?? 'UTC', now);
    if ('problem' in reading) {
      skip(entry, reading.problem);
      return [];
    }
    if ((zone === null || zone === 'SAME_AS_SERVER') && backup.timeZone === null)
      lose(entry, 'timezone', 'that of the server is not in the file; UTC is taken');
    const listed = servicesOf(Array.isArray(row.monitors) ? row.monitors : []);
    const slugs = (Array.isArray(row.pages) ? row.pages : []).flatMap(
      (slug) => asText(slug)?.toLowerCase() ?? [],
    );
    return [
      {
        list: 'maintenances',
        entry,
        document(names) {
          const services = [...new Set(listed.flatMap((service) => names.service(service) ?? []))];
          const pages = slugs.filter((slug) => names.has('pages', slug));
          if (services.length + pages.length === 0) return null;
          return {
            ...reading.document,
            ...(services.length === 0 ? {} : { services }),
            ...(pages.length === 0 ? {} : { pages }),
          };
        },
      },
    ];
  });
}
