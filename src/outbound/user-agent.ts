/** How the product names itself to others (decisions, "What a check is"; RFC 9110, 10.1.5). */

/** `Upbeat/<version> (+<siteUrl>)`; what could break the comment or the header is percent-encoded or left out. */
export function userAgentOf(version: string, siteUrl: string): string {
  const safeUrl = siteUrl.replace(/[^\x21-\x7e]|[()\\]/g, (character) => encodeURIComponent(character));
  const comment = safeUrl.replace(/[()\\]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return `Upbeat/${version.replace(/[^\w.+-]/g, '')} (+${comment})`;
}
