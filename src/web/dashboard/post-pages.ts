/**
 * The pages about the posts of an account, incidents and maintenance alike: a list with a card for each, the form of a new one, and a
 * page that changes one.
 */
import { OWNER_INCIDENT_BOUNDS } from '../../domain/incident/owner-incident.ts';
import type { HttpRequest, HttpResponse, Route } from '../../http/route.ts';
import type { Phrase } from '../../language/phrase.ts';
import type { Changes, Revised } from '../../resources/kit/create-changes.ts';
import { nameSubjects, readSubjects, type Subjects } from '../../resources/kit/posts.ts';
import { resultOf } from '../../resources/kit/write-route.ts';
import type { Language } from '../language/language.ts';
import { postMarkup, type viewPost } from '../parts/incidents.ts';
import {
  type DashboardSources,
  type FormFields,
  type FormOutcome,
  formRoute,
  type RefusedForm,
  renameFields,
  type ShowPage,
  shownRevision,
  targetIn,
  visitorForms,
  visitorRoute,
} from './dashboard-forms.ts';
import type { Visitor } from './sign-in-pages.ts';

export interface PostField {
  readonly name: string;
  readonly label: string;
  readonly input: 'text' | 'area' | 'choice' | 'time' | 'ticks';
  /** Of `ticks`: the chosen ones, separated by commas. */
  readonly value: string;
  readonly required?: boolean;
  readonly maxLength?: number;
  readonly rows?: number;
  readonly example?: string;
  /** The choice of `repeats` that the field belongs to; absent: all. */
  readonly only?: string;
  /** Of `choice` and `ticks`: what can be chosen. */
  readonly choices?: readonly { readonly value: string; readonly text: string }[];
}

export interface PostCard {
  readonly title: string;
  /** The word beside the title, and its look. */
  readonly state: string;
  readonly look: string;
  /** The line below the title; its subjects follow. */
  readonly facts: Phrase;
  /** HTML; empty: it has no text of its own. */
  readonly text: string;
  /** The timeline; null: it has none. */
  readonly post: Awaited<ReturnType<typeof viewPost>> | null;
  /** Forms with fields, and buttons, by the names of their actions. */
  readonly forms: readonly { readonly action: string; readonly fields: readonly PostField[] }[];
  readonly buttons: readonly { readonly action: string; readonly text: string }[];
}

/** A form about one post: the member, the input and the ID of the post. */
type Change = (session: Visitor, fields: FormFields, id: string) => Promise<FormOutcome>;

export interface PostKind<Post extends PostSubject, Document, Context> {
  readonly path: string;
  readonly words: (language: Language) => PostWords;
  readonly changes: Changes<Post, string, Document, Context>;
  readonly context: Context;
  /** All that the list shows, in its order. */
  readonly list: (accountId: number) => Promise<readonly Post[]>;
  readonly card: (post: Post, language: Language, owned: Subjects) => Promise<PostCard>;
  /** The fields beside services and pages of a new one (null), or of one that is changed. */
  readonly fields: (post: Post | null, language: Language) => readonly PostField[];
  /** The document of the form of a new one (null), or the patch of one that is changed, without services and pages. */
  readonly documentIn: (fields: FormFields, post: Post | null) => object;
  /** Fields by the members of the document that have another name. */
  readonly fieldNames: Readonly<Record<string, string>>;
  /** Forms of a card by their names, beside that which removes the post. */
  readonly actions: Readonly<Record<string, Change>>;
}

/** The part that both kinds of posts share. */
interface PostSubject extends Revised {
  readonly title: string;
  readonly services: readonly number[];
  readonly pages: readonly number[];
}

/** Words in which the two kinds differ. */
interface PostWords {
  readonly title: string;
  readonly lead: string;
  readonly none: string;
  readonly create: string;
  readonly publish: string;
  readonly remove: string;
}

export function postPages<Post extends PostSubject, Document, Context>(
  show: ShowPage,
  sources: DashboardSources,
  kind: PostKind<Post, Document, Context>,
): Route[] {
  const { path, changes, context, fieldNames } = kind;

  const list = async (session: Visitor, refused: RefusedForm | null): Promise<HttpResponse> => {
    const { accountId, language } = session;
    const [owned, all] = await Promise.all([readSubjects(sources.registry, accountId), kind.list(accountId)]);
    const cards = all.map(async (post) => ({
      ...(await kind.card(post, language, owned)),
      id: changes.keyOf(post),
      revision: post.revision,
      subjects: Object.values(nameSubjects(owned, post)).flat().join(', '),
    }));
    return show('./dashboard-posts', session, refused, {
      ...(await common(session, refused)),
      title: kind.words(language).title,
      owned,
      isChosen: (name: string) => refused?.typed.has(name) ?? false,
      fields: kind.fields(null, language),
      cards: await Promise.all(cards),
    });
  };

  const editor = async (
    post: Post,
    session: Visitor,
    refused: RefusedForm | null = null,
  ): Promise<HttpResponse> => {
    const owned = await readSubjects(sources.registry, session.accountId);
    const chosen = subjectFields(owned, post);
    return show('./dashboard-post', session, refused, {
      ...(await common(session, refused)),
      title: post.title,
      id: changes.keyOf(post),
      revision: shownRevision(refused, post),
      owned,
      isChosen: (name: string) => (refused === null ? chosen.has(name) : refused.typed.has(name)),
      fields: kind.fields(post, session.language),
    });
  };

  const common = async ({ language }: Visitor, refused: RefusedForm | null) => ({
    path,
    words: kind.words(language),
    preview: await previewOf(refused),
  });

  const find = async ({ params }: HttpRequest, session: Visitor): Promise<Post> =>
    resultOf(await changes.find(context, session, params.id ?? ''));
  const documentIn = (fields: FormFields, post: Post | null) => ({
    ...kind.documentIn(fields, post),
    ...subjectsIn(fields),
  });

  const cardForm = (action: string, change: Change): Route =>
    formRoute<Post>(sources, {
      path: `${path}/:id/${action}`,
      name: action,
      find,
      take: (post, session, fields) => {
        const id = changes.keyOf(post);
        const refused = { form: `${action}-${id}`, problems: {}, typed: fields };
        return fields.has('preview') ? list(session, refused) : change(session, fields, id);
      },
      back: () => path,
      page: (post, session, refused) =>
        list(session, { ...refused, form: `${refused.form}-${changes.keyOf(post)}` }),
    });

  const newForm = visitorForms(sources, path, list);
  return [
    visitorRoute(sources, path, 'viewer', (session) => list(session, null)),
    newForm('add', async (_, session, fields) =>
      fields.has('preview')
        ? list(session, { form: 'add', problems: {}, typed: fields })
        : renameFields(await changes.add(context, session, documentIn(fields, null)), fieldNames),
    ),
    visitorRoute(
      sources,
      `${path}/:id`,
      'editor',
      async (session, request) => await editor(await find(request, session), session),
    ),
    formRoute<Post>(sources, {
      path: `${path}/:id/save`,
      name: 'save',
      find,
      async take(post, session, fields) {
        if (fields.has('preview'))
          return await editor(post, session, { form: 'save', problems: {}, typed: fields });
        const target = targetIn(changes.keyOf(post), fields);
        const patch = documentIn(fields, post);
        return renameFields(await changes.patch(context, session, target, patch), fieldNames);
      },
      back: () => path,
      page: editor,
    }),
    ...Object.entries(kind.actions).map(([action, change]) => cardForm(action, change)),
    cardForm('remove', (session, fields, id) => changes.remove(context, session, targetIn(id, fields))),
  ];
}

/** The services and pages that were ticked. */
function subjectsIn(fields: FormFields) {
  const named = (prefix: string) =>
    [...fields.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  return { services: named('service:'), pages: named('page:') };
}

/** The names of the boxes that are ticked for one. */
function subjectFields(owned: Subjects, post: PostSubject): ReadonlySet<string> {
  const { services, pages } = nameSubjects(owned, post);
  return new Set([...services.map((slug) => `service:${slug}`), ...pages.map((slug) => `page:${slug}`)]);
}

/** The text that was typed as HTML, if a preview was requested. */
async function previewOf(refused: RefusedForm | null) {
  if (refused === null || !refused.typed.has('preview')) return null;
  const text = (refused.typed.get('text') ?? '').slice(0, OWNER_INCIDENT_BOUNDS.textCharacters);
  return { form: refused.form, html: await postMarkup(text) };
}
