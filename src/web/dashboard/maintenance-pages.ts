/** `/dashboard/maintenances`: maintenance of the account, announced, extended, ended, skipped and withdrawn. */
import { announceMaintenance, changeOccurrence, withdrawMaintenance } from '../../app/owner-maintenances.ts';
import { nameSubjects, readSubjects } from '../../app/subjects.ts';
import { OWNER_MAINTENANCE_BOUNDS, ownerMaintenanceId } from '../../domain/owner-maintenance.ts';
import type { HttpResponse, Route } from '../../http/route.ts';
import { time } from '../../language/phrase.ts';
import { nextOccurrences } from '../../view/owners-words.ts';
import { ownerTextMarkup } from '../parts/owners-words.ts';
import {
  type DashboardSources,
  memberOf,
  type RefusedForm,
  renameFields,
  type ShowPage,
  viewForms,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import { chosenIn, ofSubject, previewOf, subjectsIn } from './incident-pages.ts';
import type { Visitor } from './sign-in-pages.ts';

const PATH = '/dashboard/maintenances';
/** Time by which the button extends an occurrence. */
const EXTENSION = '30m';

/** The routes. */
export function maintenancePages(show: ShowPage, sources: DashboardSources): Route[] {
  const { registry, siteUrl, now } = sources;
  const context = { registry, siteUrl, now };

  const page = async (session: Visitor, sent: RefusedForm | null): Promise<HttpResponse> => {
    const { accountId, language } = session;
    const { texts } = language;
    const [owned, all] = await Promise.all([
      readSubjects(registry, accountId),
      registry.ownerMaintenancesOf(accountId),
    ]);
    const refused = ofSubject(sent);
    const isRefused = refused !== null && Object.keys(refused.problems).length > 0;
    const at = now();
    const listed = await Promise.all(
      all.map(async (one) => {
        const [next] = await nextOccurrences(one, at, 1);
        const isRunning = next !== undefined && next.startsAt <= at;
        return {
          id: ownerMaintenanceId(one.id),
          title: one.title,
          html: await ownerTextMarkup(one.markdown),
          isRunning,
          isAhead: next !== undefined,
          state: next === undefined ? texts.said.over : isRunning ? texts.said.runs : texts.said.planned,
          span: next === undefined ? [] : texts.page.from(time(next.startsAt), time(next.endsAt)),
          zone: one.timeZone,
          recurrence: one.recurrence,
          subjects: Object.values(nameSubjects(owned, one)).flat().join(', '),
          startsAt: next?.startsAt ?? Number.POSITIVE_INFINITY,
        };
      }),
    );
    return show(
      './dashboard-maintenances',
      {
        title: texts.said.maintenances,
        forms: viewForms(refused),
        preview: await previewOf(refused),
        isChosen: chosenIn(refused),
        bounds: OWNER_MAINTENANCE_BOUNDS,
        owned,
        example: { zone: 'Europe/Berlin', rule: 'FREQ=WEEKLY;BYDAY=TU' },
        maintenances: listed.sort((a, b) => a.startsAt - b.startsAt),
      },
      session,
      isRefused ? 400 : 200,
    );
  };

  const form = visitorForms(sources, PATH, page);
  const act = (action: 'end' | 'extend' | 'skip') =>
    form(action, (_, session, fields) =>
      changeOccurrence(context, memberOf(session), fields.get('id') ?? '', {
        action,
        ...(action === 'extend' ? { by: EXTENSION } : {}),
      }),
    );

  return [
    visitorRoute(sources, PATH, (session) => page(session, null)),
    form('add', async (_, session, fields) => {
      if (fields.has('preview')) return await page(session, { form: 'add', problems: {}, typed: fields });
      const given = (name: string) => fields.get(name)?.trim() || undefined;
      const document = {
        title: fields.get('title') ?? '',
        text: fields.get('text') ?? '',
        duration: fields.get('duration')?.trim() ?? '',
        starts_at: given('starts'),
        time_zone: given('zone'),
        recurrence: given('recurrence'),
        ...subjectsIn(fields),
      };
      const filled = Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined));
      const outcome = await announceMaintenance(context, memberOf(session), filled);
      return renameFields(outcome, { starts_at: 'starts', time_zone: 'zone' });
    }),
    act('end'),
    act('extend'),
    act('skip'),
    form('remove', (_, session, fields) =>
      withdrawMaintenance(context, memberOf(session), fields.get('id') ?? ''),
    ),
  ];
}
