/** Services of the catalogue for tests of the home page. */
import { service } from '../../site/site-world.ts';

export const CATALOGUE = [
  service(1, 'github', { name: 'GitHub', domain: 'github.com' }),
  service(2, 'gitlab', { name: 'GitLab', domain: 'gitlab.com' }),
  service(3, 'digital-ocean', { name: 'Digital Ocean', domain: 'digitalocean.com', category: 'cloud' }),
  service(4, 'x', { name: 'X', domain: 'x.com', category: 'social-media' }),
  service(5, 'spotify', { name: 'Spotify', domain: 'spotify.com', category: 'streaming' }),
];
