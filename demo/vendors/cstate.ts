/** Simulated page of cState: `/index.json`, systems with their open issues. */
import { isoTime, jsonDocument, type Render } from './render.ts';

const WORDS = { minor: 'disrupted', major: 'down', critical: 'down' } as const;

/** Writes the index. */
export const renderCState: Render = (vendor, state, _now, baseUrl) => {
  const open = state.incidents.filter(({ resolvedAt }) => resolvedAt === null);
  const systems = vendor.components.map((name) => {
    const issues = open.filter(({ components }) => components.includes(name));
    return {
      name,
      category: 'Everything',
      status: issues[0] === undefined ? 'ok' : WORDS[issues[0].severity],
      unresolvedIssues: issues.map(({ number, title, severity, components, startedAt, updates }) => ({
        is: 'issue',
        title,
        createdAt: goTime(startedAt),
        lastMod: goTime(updates.at(-1)?.at ?? startedAt),
        permalink: `${baseUrl}/issues/${number}/`,
        severity: WORDS[severity],
        resolved: false,
        informational: false,
        resolvedAt: '<no value>',
        affected: components,
        filename: `${number}.md`,
      })),
    };
  });
  const document = {
    is: 'index',
    cStateVersion: '6.0',
    apiVersion: '2.0',
    title: vendor.name,
    baseURL: baseUrl,
  };
  return new Map([['/index.json', jsonDocument({ ...document, systems })]]);
};

/** `2026-09-20 10:00:00 +0000 UTC` */
function goTime(at: number): string {
  return `${isoTime(at).slice(0, 19).replace('T', ' ')} +0000 UTC`;
}
