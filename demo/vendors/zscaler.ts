/** Simulated page of Zscaler: the open events of a cloud by service. */
import { escapeMarkup, jsonDocument, type Render, rfc822Time } from './render.ts';

/** Path of the feed. */
export const ZSCALER_PATH = '/api/cloud-status';

const SEVERITIES = { minor: '19', major: '20', critical: '20' } as const;

/** Writes the cloud. */
export const renderZscaler: Render = (vendor, state) => {
  const open = state.incidents.filter(({ resolvedAt }) => resolvedAt === null);
  const services = vendor.components.map((name, index) => ({
    tid: String(900 + index),
    name,
    status: true,
    category_status: open
      .filter(({ components }) => components.includes(name))
      .map(({ number, title, severity, startedAt, updates }) => ({
        id: String(number),
        title,
        description: updates
          .toReversed()
          .map(
            ({ at, text }) =>
              `<p class="zs-update">Update - <span class="report-time">${rfc822Time(at, 'UTC')}</span></p><p>${escapeMarkup(text)}</p>`,
          )
          .join(''),
        severityTid: SEVERITIES[severity],
        status: 'In Progress',
        alias: `/posts/${number}`,
        from: rfc822Time(startedAt, 'UTC'),
      })),
  }));
  const severity = [
    { tid: '20', name: 'Service Disruption', visible: '1' },
    { tid: '19', name: 'Service Degradation', visible: '1' },
    { tid: '1356', name: 'Informational', visible: '0' },
  ];
  const category = [{ title: 'all', tid: 'core_cloud_services', subCategory: services }];
  return new Map([[ZSCALER_PATH, jsonDocument({ data: { severity, category } })]]);
};
