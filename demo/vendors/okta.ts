/** Simulated page of Okta: HTML that contains its incidents as JSON. */
import { isoTime, newestOf, type Render } from './render.ts';

const CATEGORIES = {
  minor: 'Service Degradation',
  major: 'Service Disruption',
  critical: 'Major Service Disruption',
} as const;

/** Path of the page. */
export const OKTA_PATH = '/status';

/** Writes the page. */
export const renderOkta: Render = (vendor, state) => {
  const records = state.incidents.map(
    ({ id, title, severity, components, startedAt, resolvedAt, updates }) => ({
      attributes: { type: 'Incident__c', url: `/services/data/v67.0/sobjects/Incident__c/${id}` },
      Id: id,
      Duration__c: ((resolvedAt ?? newestOf(updates).at) - startedAt) / 60_000,
      Log__c: newestOf(updates).text,
      Status__c: resolvedAt === null ? 'Investigating' : 'Resolved',
      Last_Updated__c: isoTime(newestOf(updates).at).replace('Z', '+0000'),
      Category__c: CATEGORIES[severity],
      Incident_Title__c: title,
      Okta_Sub_Service__c: components.join(';'),
      Start_Time__c: isoTime(startedAt).replace('Z', '+0000'),
    }),
  );
  const list = JSON.stringify(records.length > 0 ? records : [OLD_RECORD]);
  const body = Buffer.from(`<!doctype html><title>${vendor.name} Status</title><div id="app">${list}</div>`);
  return new Map([[OKTA_PATH, { contentType: 'text/html; charset=utf-8', body }]]);
};

/** The page never lists nothing: this one is too old to be read. */
const OLD_RECORD = {
  attributes: { type: 'Incident__c', url: '/services/data/v67.0/sobjects/Incident__c/first' },
  Id: 'first',
  Duration__c: 1,
  Status__c: 'Resolved',
  Category__c: 'Service Disruption',
  Incident_Title__c: 'The first incident',
  Start_Time__c: '2015-01-01T00:00:00.000+0000',
};
