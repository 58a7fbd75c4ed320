/** What the buttons of the editor of a page ask for: a word and numbers in the value of the button. */
import type { PageStep } from '../../domain/status-page.ts';

/**
 * Reads a step from a form: `up 12`, `down 12`, `remove 12` with the id of a service, `group_up 1`, `group_down 1`,
 * `group_remove 1` with the number of a group. Null: no such step.
 */
export function readStep(text: string): PageStep | null {
  const found = /^(up|down|remove|group_up|group_down|group_remove) (\d{1,15})$/.exec(text);
  if (found === null) return null;
  const number = Number(found[2]);
  switch (found[1]) {
    case 'up':
      return { kind: 'move_service', serviceId: number, by: -1 };
    case 'down':
      return { kind: 'move_service', serviceId: number, by: 1 };
    case 'remove':
      return { kind: 'remove_service', serviceId: number };
    case 'group_up':
      return { kind: 'move_group', group: number, by: -1 };
    case 'group_down':
      return { kind: 'move_group', group: number, by: 1 };
    default:
      return { kind: 'remove_group', group: number };
  }
}
