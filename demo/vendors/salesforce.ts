/** Simulated Salesforce Trust API: `/v1/instances`, with the status of each instance and no incidents. */
import { jsonDocument, type Render } from './render.ts';

const WORDS = {
  minor: 'MINOR_INCIDENT_CORE',
  major: 'MAJOR_INCIDENT_CORE',
  critical: 'MAJOR_INCIDENT_CORE',
} as const;

/** Path of the document. */
export const SALESFORCE_PATH = '/v1/instances';

/** Writes the document. The vendor's components are the keys of the instances. */
export const renderSalesforce: Render = (vendor, state) => {
  const instances = vendor.components.map((key) => {
    const incident = state.incidents.find(
      ({ resolvedAt, components }) => resolvedAt === null && components.includes(key),
    );
    const running = state.maintenances.some(
      ({ state, components }) => state === 'running' && components.includes(key),
    );
    const calm = running ? 'MAINTENANCE_CORE' : 'OK';
    return {
      key,
      location: 'EMEA',
      environment: 'production',
      releaseVersion: "Winter '27 Patch 4.1",
      releaseNumber: '252.4.1',
      status: incident === undefined ? calm : WORDS[incident.severity],
      isActive: true,
      Products: [],
      Tags: [],
    };
  });
  return new Map([[SALESFORCE_PATH, jsonDocument(instances)]]);
};
