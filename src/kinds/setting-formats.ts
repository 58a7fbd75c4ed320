/** Formats of settings of checks that are text: what each accepts, and an example for messages. */

/** A format. */
interface SettingFormat {
  readonly accepts: (text: string) => boolean;
  readonly example: string;
}

/** Formats by the name that a schema gives as `format`. */
export const SETTING_FORMATS = {
  line: { accepts: (text) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text), example: 'one line of text' },
} satisfies Readonly<Record<string, SettingFormat>>;
