/** Feed URLs of kinds whose documents do not follow from a page such as `https://status.example.com`. */
export const SAMPLE_FEED_URLS: Readonly<Partial<Record<string, string>>> = {
  statusio: 'https://api.status.io/1.0/status/5b36dc6502d06804c08349f7',
  uptimerobot: 'https://status.example.com/api/getMonitorList/zwOvMT8x16',
  statuspal: 'https://statuspal.io/api/v2/status_pages/example/summary',
  uptimekuma: 'https://status.example.com/api/status-page/main',
  zscaler: 'https://trust.zscaler.com/api/cloud-status?cloud=zsn',
};
