/** The plan of `apply` as text, like a diff, and as JSON. */
import { styleText } from 'node:util';
import type { MemberChange, MemberValue, Plan, PlannedChange } from '../../apply/apply-plan.ts';

const SIGNS = { create: '+', change: '~', remove: '-' } as const;
const COLOURS = { create: 'green', change: 'yellow', remove: 'red' } as const;
/** Values that are longer are cut. */
const MAX_SHOWN_CHARACTERS = 200;

/** The changes as lines: what is created (+), changed (~) and removed (-). */
export function describeChanges(changes: readonly PlannedChange[], stream: NodeJS.WriteStream): string {
  return changes
    .map((change) => {
      const { action, type, key, members } = change;
      const head = `${SIGNS[action]} ${type} ${key}`;
      const lines = [head, ...members.map((member) => `    ${describeMember(member, action === 'create')}`)];
      return lines.map((line) => styleText(COLOURS[action], line, { stream })).join('\n');
    })
    .join('\n');
}

/** `2 to create, 1 to change, 9,997 unchanged`, or for changes that are made `2 created, 1 changed, 9,997 unchanged`. */
export function describeCounts({ changes, unchanged }: Plan, isMade: boolean): string {
  const words = (['create', 'change', 'remove'] as const).flatMap((action) => {
    const count = changes.filter((change) => change.action === action).length;
    if (count === 0) return [];
    return `${count.toLocaleString('en')} ${isMade ? `${action.replace(/e$/, '')}ed` : `to ${action}`}`;
  });
  return [...words, `${unchanged.toLocaleString('en')} unchanged`].join(', ');
}

/** The plan as the API returns it. */
export function planView({ changes, unchanged }: Plan, isDryRun: boolean) {
  return { dry_run: isDryRun, changes, unchanged };
}

/** The plan without the values of the members at these paths, which come from the environment. */
export function hideValues(plan: Plan, paths: readonly string[]): Plan {
  if (paths.length === 0) return plan;
  const hidden = paths.map((path) => `${path}.`);
  const changes = plan.changes.map((change) => {
    const members = change.members.map((member): MemberChange => {
      const path = `${change.path}.${member.field}.`;
      const { field } = member;
      return hidden.some((one) => one.startsWith(path)) ? { field, secret: true } : member;
    });
    return { ...change, members };
  });
  return { ...plan, changes };
}

function describeMember({ field, before, after, secret }: MemberChange, isNew: boolean): string {
  if (secret === true) return `${field}: ${isNew ? 'set' : 'changed'}`;
  if (isNew) return `${field}: ${show(after)}`;
  return `${field}: ${show(before)} -> ${show(after)}`;
}

function show(value: MemberValue): string {
  if (value === undefined) return 'default';
  const text = typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return text.length <= MAX_SHOWN_CHARACTERS ? text : `${text.slice(0, MAX_SHOWN_CHARACTERS - 3)}...`;
}
