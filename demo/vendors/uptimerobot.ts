/** Simulated page of UptimeRobot: its monitors, all of them well, and what people write about open incidents. */
import { jsonDocument, type Render } from './render.ts';

const KEY = 'Ab1Cd2Ef3';

/** Path of the list of monitors. */
export const UPTIMEROBOT_PATH = `/api/getMonitorList/${KEY}`;

/** Writes the page. */
export const renderUptimeRobot: Render = (vendor, state) => {
  const results = state.incidents
    .filter(({ resolvedAt }) => resolvedAt === null)
    .map(({ number, title, startedAt }) => ({
      type: 'announcement',
      id: number,
      title,
      content: null,
      description: null,
      endDate: null,
      endDateGMT: null,
      timestamp: Math.floor(startedAt / 1_000),
      status: 2,
      icon: 'alert-triangle',
    }));
  const data = vendor.components.map((name, index) => ({
    monitorId: index + 1,
    statusClass: 'success',
    name,
  }));
  return new Map([
    [UPTIMEROBOT_PATH, jsonDocument({ status: 'ok', data })],
    [`/api/getEventFeed/${KEY}`, jsonDocument({ status: true, results })],
  ]);
};
