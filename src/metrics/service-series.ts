/** Series of single services for Prometheus, for those who alert on their own services without another database. */
import { Gauge, Registry } from 'prom-client';
import type { Service } from '../domain/service.ts';
import type { CurrentStatus } from '../domain/status/current.ts';

/** Maximum number of services in a response, about 0.4 kB each. */
export const MAX_SERIES_SERVICES = 5_000;

/** The status of a service; null: never checked. */
export type StatusOf = (service: Service) => CurrentStatus | null;

/**
 * The series of `services` in Prometheus' text format, in the given order; `total` is the number of services that match,
 * of which `services` are the first. A value that is not known has no line.
 */
export async function renderServiceSeries(
  services: readonly Service[],
  total: number,
  statusOf: StatusOf,
): Promise<string> {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: readonly string[] = LABELS) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
  const up = gauge('upbeat_service_up', 'Whether the service is up or slow (1), or down (0).');
  const response = gauge('upbeat_service_response_seconds', 'Response time of the latest check.');
  const expiry = gauge(
    'upbeat_service_certificate_expiry_seconds',
    'Unix time at which the certificate of the latest check expires.',
  );
  gauge('upbeat_services_without_series', 'Matching services beyond the maximum of a response.', []).set(
    total - services.length,
  );
  for (const service of services) {
    const current = statusOf(service);
    if (current === null || current.status === 'unknown') continue;
    const labels = { service: service.slug, domain: service.domain, category: service.category };
    up.set(labels, current.status === 'down' ? 0 : 1);
    const { latest } = current;
    const responseMs = latest?.responseTimeMs ?? null;
    // A heartbeat without a latency counts as 0 ms.
    if (responseMs !== null && (responseMs > 0 || latest?.source !== 'heartbeat'))
      response.set(labels, responseMs / 1_000);
    if (latest?.certificateExpiresAt != null) expiry.set(labels, latest.certificateExpiresAt / 1_000);
  }
  return await registry.metrics();
}

const LABELS = ['service', 'domain', 'category'];
