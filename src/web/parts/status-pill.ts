/** The shape of each status, and the pill that shows it. */
import type { ServiceStatus } from '../../domain/status.ts';
import { escapeMarkup } from '../language/phrase.ts';

/** A shape for each status, for readers who do not see its colour: an SVG path in a box of 10 by 10. */
export const STATUS_SHAPES: Readonly<Record<ServiceStatus, string>> = {
  up: 'M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0z',
  slow: 'M5 .5 10 9.5H0z',
  down: 'M2 0 5 3 8 0l2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3-3-3z',
  unknown: 'M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0zm0 2.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
};

/** Shape and word of a status. */
export function pillMarkup(status: ServiceStatus, word: string): string {
  return `<svg viewBox="0 0 10 10" aria-hidden="true"><path d="${STATUS_SHAPES[status]}"/></svg>${escapeMarkup(word)}`;
}
