import fc from 'fast-check';
import t from 'tap';
import { SERVICE_STATUSES, type ServiceStatus } from '../../src/domain/status.ts';
import { createStatusWords } from '../../src/view/status-words.ts';
import { propertyRuns } from '../support/property-runs.ts';

t.test('it behaves as a map from services to statuses', async () => {
  const serviceId = fc.oneof(fc.nat(4), fc.integer({ min: 4_094, max: 4_098 }), fc.nat(2 ** 40));
  fc.assert(
    fc.property(fc.array(fc.tuple(serviceId, fc.constantFrom(...SERVICE_STATUSES))), (changes) => {
      const words = createStatusWords();
      const model = new Map<number, ServiceStatus>();
      return changes.every(([id, status]) => {
        const isKnown = words.get(id) === model.get(id) && words.get(id + 1) === model.get(id + 1);
        words.set(id, status);
        model.set(id, status);
        return isKnown && words.get(id) === status;
      });
    }),
    { numRuns: propertyRuns(50) },
  );
});
