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

/** The categories as headings, in English. */
export const CATEGORY_TITLES: Readonly<Record<Category, string>> = {
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
};

/** Whether a word is a category of the contract. */
export function isCategory(word: string): word is Category {
  return (CATEGORIES as readonly string[]).includes(word);
}
