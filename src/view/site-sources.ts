/** Sources of most routes. */

import type { ServiceVendorStatus } from '../domain/incident/vendor-incident.ts';
import type { Service } from '../domain/service.ts';
import type { SampleReads } from '../store/ports/samples.ts';
import type { StatusReads } from '../store/ports/status.ts';
import type { BeginHistory } from './history-reads.ts';
import type { SampleRegionReader } from './sample-region-reader.ts';
import type { ShownDirectory } from './service-directory.ts';
import type { ServiceFinder } from './service-finder.ts';
import type { ListenedAt } from './staleness.ts';

export interface SiteSources {
  readonly directory: ShownDirectory;
  readonly finder: ServiceFinder;
  readonly status: StatusReads;
  readonly samples: SampleReads;
  readonly regions: SampleRegionReader;
  readonly beginHistory: BeginHistory;
  /** The vendor status of a service; null: its status page is not read. */
  readonly vendorOf: (service: Service) => ServiceVendorStatus | null;
  /** The interval at which services are checked, milliseconds. */
  readonly intervalMs: number;
  readonly listenedAt: ListenedAt;
  /** Without a slash at its end. */
  readonly siteUrl: string;
  readonly now: () => number;
}
