/** The members of answers of StatusCake's API, and of the older one by the names of the new. */
import { asRow, isEmpty, type Row } from './listed-service.ts';

export function answersOf(root: Row, document: unknown): readonly Row[] {
  return (Array.isArray(document) ? document : [root])
    .map(asRow)
    .flatMap((answer) =>
      Array.isArray(answer.data) ? answer.data : 'data' in answer ? [answer.data] : [answer],
    )
    .map(asRow);
}

/** The tests among them; where the file has the details of one, they count. */
export function rowsOf(root: Row, document: unknown): readonly Row[] {
  const rows = answersOf(root, document)
    .map((row) => ('WebsiteName' in row ? ofOldForm(row) : row))
    .filter((row) => isUptime(row) || isHeartbeat(row) || isCertificate(row) || isSpeed(row));
  const detailed = new Set(rows.filter(isDetailed).map(({ id }) => String(id)));
  return rows.filter((row) => !isUptime(row) || isDetailed(row) || !detailed.has(String(row.id)));
}

export const isUptime = (row: Row) => 'website_url' in row && 'test_type' in row;
export const isHeartbeat = (row: Row) => 'period' in row && 'contact_groups' in row;
export const isCertificate = (row: Row) => 'website_url' in row && 'alert_at' in row;
export const isGroup = (row: Row) => 'email_addresses' in row;
export const isWindow = (row: Row) => 'repeat_interval' in row && 'start_at' in row;
export const isSpeed = (row: Row) => 'website_url' in row && 'alert_bigger' in row;
/** The list has fewer members than an answer about one test. */
export const isDetailed = (row: Row) => 'timeout' in row;

const OLD_NAMES: Readonly<Record<string, string>> = {
  TestID: 'id',
  WebsiteName: 'name',
  WebsiteURL: 'website_url',
  URI: 'website_url',
  TestType: 'test_type',
  CheckRate: 'check_rate',
  ContactGroup: 'contact_groups',
  ContactGroups: 'contact_groups',
  CustomHeader: 'custom_header',
  TestTags: 'tags',
  WebsiteHost: 'host',
  DNSServer: 'dns_server',
  DNSIP: 'dns_ips',
  DNSIPs: 'dns_ips',
  NodeLocations: 'servers',
  FollowRedirect: 'follow_redirects',
  UseJar: 'use_jar',
  EnableSSLAlert: 'enable_ssl_alert',
  BasicUser: 'basic_username',
  BasicPass: 'basic_password',
};

/** A test of the older API with the names of the new one. */
function ofOldForm(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => !isEmpty(value) || typeof value === 'boolean')
      .map(([name, value]) => [
        OLD_NAMES[name] ?? name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase(),
        value,
      ]),
  );
}
