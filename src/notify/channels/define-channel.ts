/** A kind of channel, made from its settings with types, and the settings that several kinds have. One file of this folder for each kind. */

import type { Clock } from '../../clock.ts';
import type { Channel, ChannelProblem, ChannelSettings } from '../../domain/alert/channel.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';
import type { SettingProblem } from '../../domain/input-problem.ts';
import { type Static, type TObject, Type } from '../../json-schema.ts';
import { type AddressPolicy, readDestination } from '../../outbound/address-guard.ts';
import type { Requests } from '../../outbound/outbound.ts';
import type { Mailer } from '../mail/smtp-mailer.ts';

export interface ChannelTools {
  readonly outbound: Requests;
  /** Addresses that channels may have. */
  readonly policy: AddressPolicy;
  /** The same for channels of trusted accounts and of the operator. Absent: as for all others. */
  readonly trustedPolicy?: AddressPolicy;
  /** Null: the operator has configured no mail server. */
  readonly mailer: Mailer | null;
  readonly clock: Clock;
  /** The time that the nodes of a cluster share, for what is signed, epoch milliseconds. Absent: that of this process. */
  readonly sharedNow?: () => number;
  /** Public URL of the site, without a slash at its end. */
  readonly siteUrl: string;
}

/** A message on its way. */
export interface Sending {
  readonly channel: Channel;
  readonly message: AlertMessage;
  /** The reference that the kind stored for the thread of the message; null: nothing was sent in it. */
  readonly reference: string | null;
  /** The same in all attempts to send it, for receivers that recognize duplicates. */
  readonly id: string;
  /** By which the receiver of e-mail stops the channel. Absent: it is of another kind, or one of the operator. */
  readonly stopSecret?: string;
  readonly signal: AbortSignal;
}

/** The end of an attempt. */
export type SendResult =
  /** `reference`: what the kind needs to continue the thread; absent: it stays as it was. */
  | { readonly outcome: 'delivered'; readonly reference?: string }
  /** It may succeed later. `retryAfterMs`: the receiver says when; absent: it does not. */
  | { readonly outcome: 'failed'; readonly problem: ChannelProblem; readonly retryAfterMs?: number }
  /** It never will: the receiver refuses this message or this channel. */
  | { readonly outcome: 'refused'; readonly problem: ChannelProblem };

export interface ChannelKindParts {
  /**
   * The settings: the one source of what forms, API and files take. Secrets are `writeOnly`. Each has a `title` and a
   * `description` in English that says where to find it.
   */
  readonly settings: TObject;
  /** The problems of settings that fit the schema. Absent: none. */
  readonly refuse?: (
    settings: ChannelSettings,
  ) => readonly { readonly setting: string; readonly problem: SettingProblem }[];
  /** Functions that make values of settings for the form of a new channel, by their names. Absent: none. */
  readonly make?: Readonly<Record<string, () => string>>;
  /** Minimum time between two messages to one channel, milliseconds, by the published limits of the service. Absent: 0. */
  readonly paceMs?: number;
  /** True if the receiver has to agree before anything but the request for it is sent. Absent: no. */
  readonly needsConfirmation?: boolean;
  /** Its destination for lists, without secrets: `#ops of hooks.slack.com`, `ops@example.com`. */
  readonly describe: (settings: ChannelSettings) => string;
  /** Makes one attempt. Does not throw but for faults of the program. */
  readonly send: (tools: ChannelTools, sending: Sending) => Promise<SendResult>;
}

/** The form of a setting that is text: what it accepts, and an example for messages. */
export interface SettingForm {
  readonly accepts: (text: string) => boolean;
  readonly example: string;
}

type WrongSetting = { readonly setting: string; readonly problem: SettingProblem };

/** The parts of a kind with its own settings; see {@link ChannelKindParts}. */
interface ChannelDefinition<S extends TObject> {
  readonly settings: S;
  readonly forms?: { readonly [Name in keyof Static<S>]?: SettingForm };
  /** Further problems of settings. */
  readonly refuse?: (settings: Static<S>) => readonly WrongSetting[];
  readonly make?: ChannelKindParts['make'];
  readonly needsConfirmation?: boolean;
  readonly paceMs?: number;
  readonly describe: (settings: Static<S>) => string;
  readonly send: (tools: ChannelTools, sending: Sending, settings: Static<S>) => Promise<SendResult>;
}

/** Makes a kind whose functions receive the settings with their types. */
export function defineChannel<S extends TObject>(definition: ChannelDefinition<S>): ChannelKindParts {
  const {
    settings: schema,
    forms = {},
    refuse,
    make,
    needsConfirmation,
    paceMs,
    describe,
    send,
  } = definition;
  return {
    settings: schema,
    ...(make === undefined ? {} : { make }),
    ...(needsConfirmation === undefined ? {} : { needsConfirmation }),
    ...(paceMs === undefined ? {} : { paceMs }),
    refuse(given) {
      const wrong = Object.entries<SettingForm | undefined>(forms).flatMap(
        ([setting, form]): WrongSetting[] => {
          const value = given[setting];
          if (form === undefined || typeof value !== 'string' || form.accepts(value)) return [];
          return [{ setting, problem: { code: 'format', example: form.example } }];
        },
      );
      return wrong.length > 0 || refuse === undefined || !hasTypes(schema, given) ? wrong : refuse(given);
    },
    describe: (given) => (hasTypes(schema, given) ? describe(given) : ''),
    async send(tools, sending) {
      const given = sending.channel.settings;
      if (hasTypes(schema, given)) return send(tools, sending, given);
      // Settings are validated before they are stored. A channel of a later version may have others.
      const text = 'this version cannot read the settings of the channel';
      return { outcome: 'failed', problem: { code: 'text', text } };
    },
  };
}

/** Returns true if each setting has the type of the schema, and none is missing. */
function hasTypes<S extends TObject>(
  schema: S,
  given: ChannelSettings,
): given is ChannelSettings & Static<S> {
  const required = schema.required ?? [];
  return Object.entries(schema.properties).every(([name, { type }]) => {
    const value = given[name];
    if (value === undefined) return !required.includes(name);
    return typeof value === (type === 'integer' ? 'number' : type);
  });
}

/** A secret: it is stored encrypted and never shown. */
export const SECRET = { writeOnly: true };

export function urlSetting(title: string, description: string, example: string, options: object = {}) {
  return Type.String({ title, description, examples: [example], minLength: 8, maxLength: 2_000, ...options });
}

/** A setting in one word, such as a token. */
export function wordSetting(title: string, description: string, options: object = {}) {
  return Type.String({ title, description, minLength: 1, maxLength: 500, ...options });
}

/** A setting with the address of a server of the owner's. */
export const ServerSetting = (name: string, example: string) =>
  urlSetting('Server', `Address of the ${name} server, without a path of its API.`, example);

/** The form of a URL with a path, as services hand them out. */
export function hookForm(example: string): SettingForm {
  return { accepts: (text) => isUrl(text) && (URL.parse(text)?.pathname ?? '/') !== '/', example };
}

export function serverForm(example: string): SettingForm {
  return { accepts: (text) => isUrl(text) && !/[?#]/.test(text), example };
}

/** The form of a word without spaces and control characters that `pattern` describes. */
export function wordForm(pattern: RegExp, example: string): SettingForm {
  return { accepts: (text) => pattern.test(text), example };
}

function isUrl(text: string): boolean {
  const reading = readDestination(text);
  const url = URL.parse(text);
  return (
    !('problem' in reading) && url !== null && url.username === '' && url.password === '' && !/\s/.test(text)
  );
}

/** The host of a URL with its port, for lists. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? '';
}

/** The address of a path on a server, which may be given with a slash or a path of its own. */
export function addressOn(server: string, path: string): string {
  return `${server.replace(/\/+$/, '')}${path}`;
}
