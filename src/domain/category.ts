/** The categories of the contract (2.5) in its order, with their English headings. */
export const CATEGORY_TITLES = {
  ai: 'AI',
  'social-media': 'Social media',
  gaming: 'Gaming',
  streaming: 'Streaming',
  productivity: 'Productivity',
  cloud: 'Cloud',
  finance: 'Finance',
  communication: 'Communication',
  ecommerce: 'E-commerce',
  developer: 'Developer',
  education: 'Education',
  delivery: 'Delivery',
  vpn: 'VPN',
  entertainment: 'Entertainment',
  isp: 'Internet providers',
  dating: 'Dating',
  logistics: 'Logistics',
  travel: 'Travel',
} as const;

export type Category = keyof typeof CATEGORY_TITLES;

/** The categories in the contract's order. */
export const CATEGORIES = Object.keys(CATEGORY_TITLES) as readonly Category[];

/** Returns true if a word is a category of the contract. */
export function isCategory(word: string): word is Category {
  return Object.hasOwn(CATEGORY_TITLES, word);
}
