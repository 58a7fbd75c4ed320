/** The tabs of the dashboard. */
import { includesRole, type Role } from '../../domain/role.ts';
import type { Language } from '../language/language.ts';

/** A tab, and whether the page belongs to it. */
export interface Tab {
  readonly href: string;
  readonly text: string;
  readonly isHere: boolean;
}

/** The tabs that a role sees. `template`: that of the page; `path`: of pages that share a template, the path of their tab. */
export function tabsOf(language: Language, role: Role, template: string, path?: unknown): Tab[] {
  const { alerts, dashboard, members, site } = language.texts;
  const all: readonly (readonly [href: string, text: string, templates: readonly string[], role?: Role])[] = [
    ['/dashboard', site.services, ['./dashboard', './dashboard-service', './dashboard-new-service']],
    ['/dashboard/rules', alerts.rules, ['./dashboard-rules', './dashboard-rule']],
    ['/dashboard/channels', alerts.channels, ['./dashboard-channels', './dashboard-channel']],
    ['/dashboard/pages', dashboard.pages, ['./dashboard-pages', './dashboard-page']],
    ['/dashboard/incidents', dashboard.reportIncident, []],
    ['/dashboard/maintenances', dashboard.planMaintenance, []],
    ['/dashboard/keys', dashboard.keys, ['./dashboard-keys', './dashboard-key'], 'owner'],
    ['/dashboard/webhooks', dashboard.webhooks, ['./dashboard-webhooks'], 'editor'],
    ['/dashboard/members', members.title, ['./dashboard-members']],
  ];
  return all
    .filter(([, , , needed = 'viewer']) => includesRole(role, needed))
    .map(([href, text, templates]) => ({
      href,
      text,
      isHere: templates.includes(template) || href === path,
    }));
}
