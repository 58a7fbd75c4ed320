/** Simulated page of Microsoft 365: `/api/posts/m365Consumer`, a post for each service, whose text names no times. */
import { asHtml, isoTime, jsonDocument, newestOf, type Render } from './render.ts';

const WORDS = {
  minor: 'Service degradation',
  major: 'Service interruption',
  critical: 'Service interruption',
} as const;

/** Writes the posts. */
export const renderMicrosoft365: Render = (vendor, state, now) => {
  const posts = vendor.components.map((name) => {
    const open = state.incidents.find(
      ({ resolvedAt, components }) => resolvedAt === null && components.includes(name),
    );
    const newest = open === undefined ? null : newestOf(open.updates);
    return {
      ServiceDisplayName: name,
      ServiceWorkloadName: name.replaceAll(/\W/g, ''),
      Id: null,
      LastUpdatedTime: isoTime(newest?.at ?? now),
      Title: open?.title ?? '',
      Message: newest === null ? '' : `User impact: ${asHtml(newest.text)}`,
      Status: open === undefined ? 'Operational' : WORDS[open.severity],
    };
  });
  return new Map([['/api/posts/m365Consumer', jsonDocument(posts)]]);
};
