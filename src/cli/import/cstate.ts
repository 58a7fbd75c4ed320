/** The configuration of cState: its systems, as far as they have a link, and its page. */
import {
  Collection,
  type DocumentReader,
  type ImportReading,
  mayShow,
  pageItem,
  WHOLE_FILE,
} from './listed-content.ts';
import {
  asRow,
  asText,
  type EntryReading,
  findLost,
  isEmpty,
  listAddress,
  listOf,
  type Row,
  slugOfTitle,
  withNote,
} from './listed-service.ts';

/** Reads `config.yml`, whose `params` name systems and categories. */
export const cstate: DocumentReader = {
  expected: '"params" with "systems" (cState)',
  recognises: (root) => Array.isArray(asRow(root.params).systems),
  read: ({ root }) => readConfiguration(root),
};

const NO_CHECK = 'it has no link, and a person sets its status there';
/** Options of the page without an equal. */
const OF_PAGES: Readonly<Record<string, string>> = {
  customTabs: 'pages have no links of their own',
  logo: 'set the picture on the dashboard',
  disableIncidentHistory: 'a page shows its incidents',
};
/** The analytics of the example, which counts nothing. */
const NO_ANALYTICS = 'UA-00000000-1';

function readConfiguration(root: Row): ImportReading {
  const params = asRow(root.params);
  const systems = (listOf(params.systems) ?? []).map((given) =>
    typeof given === 'string' ? { name: given } : asRow(given),
  );
  const found = new Collection();
  for (const [index, row] of systems.entries())
    found.add(asText(row.name) ?? `system ${index + 1}`, row, readSystem(row));
  for (const [field, reason] of Object.entries(OF_PAGES))
    if (!isEmpty(params[field]) && (field !== 'logo' || params.useLogo === true))
      found.lose(WHOLE_FILE, field, reason);
  if (!isEmpty(params.googleAnalytics) && params.googleAnalytics !== NO_ANALYTICS)
    found.lose(WHOLE_FILE, 'googleAnalytics', 'pages load nothing of others');
  const categories = (listOf(params.categories) ?? []).map(asRow);
  if (categories.some(({ description }) => !isEmpty(description)))
    found.lose(WHOLE_FILE, 'categories.description', 'groups of pages have a name alone');
  const groups = groupSystems(categories, found);
  return found.reading('cstate', groups.length === 0 ? [] : [pageItem(readPage(root, params), groups)]);
}

function readSystem(row: Row): EntryReading {
  const link = asText(row.link);
  if (link === null) return { problem: NO_CHECK };
  const isKnown = (field: string) => ['name', 'category', 'description', 'link'].includes(field);
  const reading = listAddress(link, asText(row.name), {}, findLost(row, isKnown, {}));
  return withNote(reading, [asText(row.description) ?? '']);
}

/** The groups of the page: the categories in their order, and what is in none of them. */
function groupSystems(categories: readonly Row[], found: Collection) {
  const shown = found.entries
    .filter(({ service }) => mayShow(service, WHOLE_FILE, found))
    .map(({ row, service }) => ({ category: asText(row.category) ?? '', service }));
  const named = categories.flatMap((row) => {
    const name = asText(row.name);
    return name === null ? [] : [{ name, isUntitled: row.untitled === true }];
  });
  const others = shown.filter(({ category }) => !named.some(({ name }) => name === category));
  return [
    ...named.map(({ name, isUntitled }) => ({
      name: isUntitled ? '' : name,
      services: shown.filter(({ category }) => category === name).map(({ service }) => service),
    })),
    { name: '', services: others.map(({ service }) => service) },
  ].filter(({ services }) => services.length > 0);
}

function readPage(root: Row, params: Row) {
  const title = asText(root.title) ?? 'Status';
  const text = asText(params.description);
  const host = URL.parse(asText(root.baseURL) ?? asText(root.baseUrl) ?? '')?.hostname ?? '';
  const colour = asText(params.brand);
  return {
    ...{ slug: slugOfTitle(title), title },
    ...(text === null ? {} : { text }),
    ...(colour !== null && /^#[\da-f]{6}$/i.test(colour) ? { brand_colour: colour } : {}),
    ...(host.includes('.') ? { custom_domain: host } : {}),
  };
}
