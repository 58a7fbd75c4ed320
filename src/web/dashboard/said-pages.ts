/**
 * The pages about what an account says itself, incidents and maintenance alike: a list with a card for each, the form of a new
 * one, and a page that changes one.
 */
import { nameSubjects, readSubjects, type Subjects } from '../../app/subjects.ts';
import { OWNER_INCIDENT_BOUNDS } from '../../domain/incident/owner-incident.ts';
import { HttpError } from '../../http/problem.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import type { Phrase } from '../../language/phrase.ts';
import type { Language } from '../language/language.ts';
import { ownerTextMarkup, type viewSaid } from '../parts/owners-words.ts';
import {
  type DashboardSources,
  type FormFields,
  type FormOutcome,
  formRoute,
  type RefusedForm,
  type ShowPage,
  shownRevision,
  viewForms,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

/** A field of a form. */
export interface SaidField {
  readonly name: string;
  readonly label: string;
  readonly input: 'text' | 'area' | 'choice' | 'time';
  readonly value: string;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly rows?: number;
  readonly example?: string;
  /** Of `choice`: what can be chosen; of `text`: what is suggested. */
  readonly choices?: readonly { readonly value: string; readonly text: string }[];
}

/** What the list shows of one. */
export interface SaidCard {
  readonly title: string;
  /** The word beside the title, and its look. */
  readonly state: string;
  readonly look: string;
  /** The line below the title; its subjects follow. */
  readonly facts: Phrase;
  /** HTML; empty: it has no text of its own. */
  readonly text: string;
  /** The timeline; null: it has none. */
  readonly said: Awaited<ReturnType<typeof viewSaid>> | null;
  /** Forms with fields, and buttons, by the names of their actions. */
  readonly forms: readonly { readonly action: string; readonly fields: readonly SaidField[] }[];
  readonly buttons: readonly { readonly action: string; readonly text: string }[];
}

/** What the forms of a page read: the member, the input and, if it is about one, its ID. */
type Change = (session: Visitor, fields: FormFields, id: string) => Promise<FormOutcome>;

/** One of the two kinds. */
export interface SaidKind<Said extends SaidSubject> {
  readonly path: string;
  /** Code of the answer about an unknown one. */
  readonly missing: 'incident_not_found' | 'maintenance_not_found';
  readonly words: (language: Language) => SaidWords;
  /** All that the list shows, in its order. */
  readonly list: (accountId: number) => Promise<readonly Said[]>;
  readonly find: (accountId: number, id: string) => Promise<Said | null>;
  readonly idOf: (said: Said) => string;
  readonly card: (said: Said, language: Language, owned: Subjects) => Promise<SaidCard>;
  /** The fields beside services and pages of a new one (null), or of one that is changed. */
  readonly fields: (said: Said | null, language: Language) => readonly SaidField[];
  readonly add: Change;
  readonly save: (session: Visitor, fields: FormFields, said: Said) => Promise<FormOutcome>;
  /** By the name of the form. */
  readonly actions: Readonly<Record<string, Change>>;
}

/** What both kinds have. */
interface SaidSubject {
  readonly title: string;
  readonly revision: number;
  readonly services: readonly number[];
  readonly pages: readonly number[];
}

/** Words in which the two kinds differ. */
interface SaidWords {
  readonly title: string;
  readonly lead: string;
  readonly none: string;
  readonly create: string;
  readonly publish: string;
  readonly remove: string;
}

/** The routes of a kind. */
export function saidPages<Said extends SaidSubject>(
  show: ShowPage,
  sources: DashboardSources,
  kind: SaidKind<Said>,
): Route[] {
  const { path } = kind;

  const list = async (session: Visitor, refused: RefusedForm | null): Promise<HttpResponse> => {
    const { accountId, language } = session;
    const [owned, all] = await Promise.all([readSubjects(sources.registry, accountId), kind.list(accountId)]);
    const cards = all.map(async (said) => ({
      ...(await kind.card(said, language, owned)),
      id: kind.idOf(said),
      revision: said.revision,
      subjects: Object.values(nameSubjects(owned, said)).flat().join(', '),
    }));
    return show(
      './dashboard-said',
      {
        ...(await common(session, refused)),
        title: kind.words(language).title,
        owned,
        isChosen: (name: string) => refused?.typed.has(name) ?? false,
        fields: kind.fields(null, language),
        cards: await Promise.all(cards),
      },
      session,
      isRefused(refused) ? 400 : 200,
    );
  };

  const editor = async (
    said: Said,
    session: Visitor,
    refused: RefusedForm | null = null,
  ): Promise<HttpResponse> => {
    const owned = await readSubjects(sources.registry, session.accountId);
    const chosen = subjectFields(owned, said);
    return show(
      './dashboard-said-one',
      {
        ...(await common(session, refused)),
        title: said.title,
        id: kind.idOf(said),
        revision: shownRevision(refused, said),
        owned,
        isChosen: (name: string) => (refused === null ? chosen.has(name) : refused.typed.has(name)),
        fields: kind.fields(said, session.language),
      },
      session,
      isRefused(refused) ? 400 : 200,
    );
  };

  const common = async ({ language }: Visitor, refused: RefusedForm | null) => ({
    path,
    words: kind.words(language),
    forms: viewForms(refused),
    preview: await previewOf(refused),
  });

  const find = async ({ params }: HttpRequest, { accountId }: Visitor): Promise<Said> => {
    const id = (params.id ?? '').slice(0, 100);
    const said = await kind.find(accountId, id);
    if (said === null) throw new HttpError(kind.missing, `The account has not written "${id}".`);
    return said;
  };

  /** A form on the card of one. */
  const cardForm = (action: string, change: Change): Route =>
    formRoute<Said>(sources, {
      path: `${path}/:id/${action}`,
      name: action,
      find,
      take: (said, session, fields) => {
        const id = kind.idOf(said);
        const refused = { form: `${action}-${id}`, problems: {}, typed: fields };
        return fields.has('preview') ? list(session, refused) : change(session, fields, id);
      },
      back: () => path,
      page: (said, session, refused) =>
        list(session, { ...refused, form: `${refused.form}-${kind.idOf(said)}` }),
    });

  const newForm = visitorForms(sources, path, list);
  return [
    visitorRoute(sources, path, (session) => list(session, null)),
    newForm('add', (_, session, fields) =>
      fields.has('preview')
        ? list(session, { form: 'add', problems: {}, typed: fields })
        : kind.add(session, fields, ''),
    ),
    visitorRoute(
      sources,
      `${path}/:id`,
      async (session, request) => await editor(await find(request, session), session),
      'editor',
    ),
    formRoute<Said>(sources, {
      path: `${path}/:id/save`,
      name: 'save',
      find,
      take: (said, session, fields) =>
        fields.has('preview')
          ? editor(said, session, { form: 'save', problems: {}, typed: fields })
          : kind.save(session, fields, said),
      back: () => path,
      page: editor,
    }),
    ...Object.entries(kind.actions).map(([action, change]) => cardForm(action, change)),
  ];
}

/** The services and pages that were ticked. */
export function subjectsIn(fields: FormFields) {
  const named = (prefix: string) =>
    [...fields.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return { services: named('service:'), pages: named('page:') };
}

/** The names of the boxes that are ticked for one. */
function subjectFields(owned: Subjects, said: SaidSubject): ReadonlySet<string> {
  const { services, pages } = nameSubjects(owned, said);
  return new Set([...services.map((slug) => `service:${slug}`), ...pages.map((slug) => `page:${slug}`)]);
}

function isRefused(refused: RefusedForm | null): boolean {
  return refused !== null && Object.keys(refused.problems).length > 0;
}

/** The text that was typed as HTML, if a preview was requested. */
async function previewOf(refused: RefusedForm | null) {
  if (refused === null || !refused.typed.has('preview')) return null;
  const text = (refused.typed.get('text') ?? '').slice(0, OWNER_INCIDENT_BOUNDS.textCharacters);
  return { form: refused.form, html: await ownerTextMarkup(text) };
}
