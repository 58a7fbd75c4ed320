/** Simulated page of FireHydrant: `/data/payload.json`. */
import { asMarkdown, isoTime, jsonDocument, type Render } from './render.ts';

const SEVERITIES = { minor: 'SEV3', major: 'SEV2', critical: 'SEV1' } as const;
const NOTE = 'type.googleapis.com/firehydrant.nunc.TimelineEvent.Note';

/** Writes the payload. */
export const renderFireHydrant: Render = (vendor, state) => {
  const incidents = state.incidents.map(
    ({ id, title, severity, components, startedAt, resolvedAt, updates }) => ({
      id,
      title,
      severitySlug: SEVERITIES[severity],
      timestamps: {
        started: isoTime(startedAt),
        ...(resolvedAt === null ? {} : { resolved: isoTime(resolvedAt) }),
      },
      components: components.map((name) => ({
        name,
        id: `c${vendor.components.indexOf(name)}`,
        condition: 'Degraded',
      })),
      timeline: updates.toReversed().map(({ at, status, text }) => ({
        time: isoTime(at),
        details: {
          '@type': NOTE,
          note: `➡️ **${status[0]?.toUpperCase()}${status.slice(1)}** — ${asMarkdown(text)}`,
        },
        occurredAt: isoTime(at),
      })),
    }),
  );
  return new Map([
    [
      '/data/payload.json',
      jsonDocument({
        config: { companyName: vendor.name },
        components: vendor.components.map((name, index) => ({ name, id: `c${index}` })),
        incidents,
      }),
    ],
  ]);
};
