/** Which host checks a service: rendezvous hashing, so that a change of hosts moves as few services as can be. */
import { hashNumber } from '../host/phase.ts';

/** The number of the host, from 0 to `hosts` - 1, for a service. Thaler and Ravishankar, 1998. */
export function chooseHost(serviceId: number, hosts: number): number {
  let best = 0;
  let bestWeight = -1;
  for (let host = 0; host < hosts; host++) {
    const weight = hashNumber(hashNumber(serviceId) ^ Math.imul(host + 1, 0x9e3779b1));
    if (weight > bestWeight) {
      best = host;
      bestWeight = weight;
    }
  }
  return best;
}
