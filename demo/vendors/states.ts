/** Simulated pages that show states of their parts and no incidents: Azure DevOps and Meta. */
import { jsonDocument, type Render } from './render.ts';
import type { ToldSeverity, VendorState } from './script.ts';

const HEALTH = { minor: 'degraded', major: 'unhealthy', critical: 'unhealthy' } as const;

/** Writes the health of Azure DevOps: each component is a service with one geography. */
export const renderAzureDevOps: Render = (vendor, state, now) => {
  const healthOf = (name: string | null) => stateOf(state, name, HEALTH) ?? 'healthy';
  const document = jsonDocument({
    lastUpdated: new Date(now).toISOString(),
    status: { health: healthOf(null), message: 'Everything is looking good' },
    services: vendor.components.map((id) => ({
      id,
      geographies: [{ id: 'EU', name: 'Europe', health: healthOf(id) }],
    })),
  });
  return new Map([['/_apis/status/health', document]]);
};

const WORDS = { minor: 'Some disruption', major: 'Major outage', critical: 'Major outage' } as const;

/** Writes Meta's products: all components are services of one. */
export const renderMeta: Render = (vendor, state) => {
  const product = {
    id: vendor.slug,
    name: vendor.name,
    rss_file_paths: [],
    section: 1,
    services: vendor.components.map((name, index) => ({
      id: index + 1,
      name,
      status: stateOf(state, name, WORDS) ?? 'No known issues',
      time: null,
    })),
  };
  return new Map([['/data/orgs.json', jsonDocument([product])]]);
};

/** The word for the open incident of a component, or of any (null); null: none is open. */
function stateOf<Word>(
  { incidents }: VendorState,
  component: string | null,
  words: Readonly<Record<ToldSeverity, Word>>,
): Word | null {
  const open = incidents.find(
    ({ resolvedAt, components }) =>
      resolvedAt === null && (component === null || components.includes(component)),
  );
  return open === undefined ? null : words[open.severity];
}
