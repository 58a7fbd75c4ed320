/** Addresses in text that people or logs get to see, without the user and password that some of them hold. */

/** From the slashes to the `@` that ends user and password (RFC 3986, 3.2.1); a password may hold an `@` of its own. */
const USERINFO = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>]*@/gi;

/** The text with `***` in place of user and password in every address. */
export function hideUserinfo(text: string): string {
  return text.includes('@') ? text.replace(USERINFO, '$1***@') : text;
}
