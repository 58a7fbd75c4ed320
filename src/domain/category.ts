/** The categories of the contract (2.5). */
export const CATEGORIES = [
  'ai',
  'social-media',
  'gaming',
  'streaming',
  'productivity',
  'cloud',
  'finance',
  'communication',
  'ecommerce',
  'developer',
  'education',
  'delivery',
  'vpn',
  'entertainment',
  'isp',
  'dating',
  'logistics',
  'travel',
] as const;

/** One of the contract's categories. */
export type Category = (typeof CATEGORIES)[number];

/** Whether a word is a category of the contract. */
export function isCategory(word: string): word is Category {
  return (CATEGORIES as readonly string[]).includes(word);
}
