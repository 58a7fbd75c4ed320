/**
 * Databases of Uptime Kuma for tests. The tables and columns are those of the published schema: `db/kuma.db` with its patches for
 * 1.23, and the migrations in `db/knex_migrations` on top for 2.x (louislam/uptime-kuma, 2.5.3), as far as they hold definitions.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** A row by its columns. */
export type KumaRow = Readonly<Record<string, string | number | null | Uint8Array>>;

const MONITOR_1 = `id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(150), active BOOLEAN DEFAULT 1 NOT NULL, user_id INTEGER,
  interval INTEGER DEFAULT 20 NOT NULL, url TEXT, type VARCHAR(20), weight INTEGER DEFAULT 2000, hostname VARCHAR(255), port INTEGER,
  created_date DATETIME DEFAULT (DATETIME('now')) NOT NULL, keyword VARCHAR(255), maxretries INTEGER NOT NULL DEFAULT 0,
  ignore_tls BOOLEAN DEFAULT 0 NOT NULL, upside_down BOOLEAN DEFAULT 0 NOT NULL, maxredirects INTEGER DEFAULT 10 NOT NULL,
  accepted_statuscodes_json TEXT DEFAULT '["200-299"]' NOT NULL, dns_resolve_type VARCHAR(5), dns_resolve_server VARCHAR(255),
  dns_last_result VARCHAR(255), retry_interval INTEGER DEFAULT 0 NOT NULL, push_token VARCHAR(20) DEFAULT NULL,
  method TEXT DEFAULT 'GET' NOT NULL, body TEXT DEFAULT NULL, headers TEXT DEFAULT NULL, basic_auth_user TEXT DEFAULT NULL,
  basic_auth_pass TEXT DEFAULT NULL, docker_host INTEGER, docker_container VARCHAR(255), proxy_id INTEGER,
  expiry_notification BOOLEAN DEFAULT 1, mqtt_topic TEXT, mqtt_success_message VARCHAR(255), mqtt_username VARCHAR(255),
  mqtt_password VARCHAR(255), database_connection_string VARCHAR(2000), database_query TEXT, auth_method VARCHAR(250),
  auth_domain TEXT, auth_workstation TEXT, grpc_url VARCHAR(255), grpc_protobuf TEXT, grpc_body TEXT, grpc_metadata TEXT,
  grpc_method VARCHAR(255), grpc_service_name VARCHAR(255), grpc_enable_tls BOOLEAN DEFAULT 0 NOT NULL, radius_username VARCHAR(255),
  radius_password VARCHAR(255), radius_calling_station_id VARCHAR(50), radius_called_station_id VARCHAR(50), radius_secret VARCHAR(255),
  resend_interval INTEGER DEFAULT 0 NOT NULL, packet_size INTEGER DEFAULT 56 NOT NULL, game VARCHAR(255),
  http_body_encoding VARCHAR(25), description TEXT DEFAULT NULL, tls_ca TEXT DEFAULT NULL, tls_cert TEXT DEFAULT NULL,
  tls_key TEXT DEFAULT NULL, parent INTEGER, invert_keyword BOOLEAN DEFAULT 0 NOT NULL, json_path TEXT, expected_value VARCHAR(255),
  kafka_producer_topic VARCHAR(255), kafka_producer_brokers TEXT, kafka_producer_sasl_options TEXT, kafka_producer_message TEXT,
  oauth_client_id TEXT, oauth_client_secret TEXT, oauth_token_url TEXT, oauth_scopes TEXT, oauth_auth_method TEXT,
  timeout DOUBLE DEFAULT 0 NOT NULL, gamedig_given_port_only BOOLEAN DEFAULT 1 NOT NULL, kafka_producer_ssl BOOLEAN DEFAULT 0 NOT NULL,
  kafka_producer_allow_auto_topic_creation BOOLEAN DEFAULT 0 NOT NULL`;

const MONITOR_2 = `${MONITOR_1}, mqtt_check_type VARCHAR(255) NOT NULL DEFAULT 'keyword', remote_browser INTEGER, snmp_oid VARCHAR(255),
  snmp_version TEXT DEFAULT '2c', json_path_operator VARCHAR(255), cache_bust BOOLEAN NOT NULL DEFAULT '0',
  conditions TEXT NOT NULL DEFAULT '[]', rabbitmq_nodes TEXT, rabbitmq_username VARCHAR(255), rabbitmq_password VARCHAR(255),
  smtp_security VARCHAR(255), ws_ignore_sec_websocket_accept_header BOOLEAN NOT NULL DEFAULT '0',
  ws_subprotocol VARCHAR(255) NOT NULL DEFAULT '', ping_count INTEGER NOT NULL DEFAULT '1', ping_numeric BOOLEAN NOT NULL DEFAULT '1',
  ping_per_request_timeout INTEGER NOT NULL DEFAULT '2', ip_family VARCHAR(4), manual_status INTEGER, oauth_audience VARCHAR(255),
  mqtt_websocket_path VARCHAR(255), domain_expiry_notification BOOLEAN DEFAULT '0', save_response BOOLEAN NOT NULL DEFAULT '0',
  save_error_response BOOLEAN NOT NULL DEFAULT '1', response_max_length INTEGER NOT NULL DEFAULT '1024', system_service_name VARCHAR(255),
  subtype VARCHAR(10), location VARCHAR(255), protocol VARCHAR(20), snmp_v3_username VARCHAR(255), expected_tls_alert VARCHAR(50),
  retry_only_on_status_code_failure BOOLEAN NOT NULL DEFAULT '0', screenshot_delay INTEGER NOT NULL DEFAULT '0',
  ntp_stratum_threshold INTEGER DEFAULT '5', ntp_time_offset_threshold INTEGER DEFAULT '1000',
  ntp_root_dispersion_threshold INTEGER DEFAULT '500', bearer_token TEXT, gamedig_token TEXT`;

const PAGE_1 = `id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, slug VARCHAR(255) NOT NULL UNIQUE, title VARCHAR(255) NOT NULL, description TEXT,
  icon VARCHAR(255) NOT NULL, theme VARCHAR(30) NOT NULL, published BOOLEAN NOT NULL DEFAULT 1,
  search_engine_index BOOLEAN NOT NULL DEFAULT 1, show_tags BOOLEAN NOT NULL DEFAULT 0, password VARCHAR,
  created_date DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, modified_date DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, footer_text TEXT,
  custom_css TEXT, show_powered_by BOOLEAN NOT NULL DEFAULT 1, show_certificate_expiry BOOLEAN DEFAULT 0 NOT NULL`;

const TABLES_1: Readonly<Record<string, string>> = {
  monitor: MONITOR_1,
  notification:
    'id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name VARCHAR(255), active BOOLEAN NOT NULL DEFAULT 1, user_id INTEGER NOT NULL, is_default BOOLEAN DEFAULT 0 NOT NULL, config TEXT',
  monitor_notification:
    'id INTEGER PRIMARY KEY NOT NULL, monitor_id INTEGER NOT NULL, notification_id INTEGER NOT NULL',
  tag: "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(255) NOT NULL, color VARCHAR(255) NOT NULL, created_date DATETIME DEFAULT (DATETIME('now')) NOT NULL",
  monitor_tag:
    'id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, tag_id INTEGER NOT NULL, value TEXT',
  setting:
    'id INTEGER PRIMARY KEY AUTOINCREMENT, key VARCHAR(200) NOT NULL UNIQUE, value TEXT, type VARCHAR(20)',
  incident:
    "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, title VARCHAR(255) NOT NULL, content TEXT NOT NULL, style VARCHAR(30) DEFAULT 'warning' NOT NULL, created_date DATETIME DEFAULT (DATETIME('now')) NOT NULL, last_updated_date DATETIME, pin BOOLEAN DEFAULT 1 NOT NULL, active BOOLEAN DEFAULT 1 NOT NULL, status_page_id INTEGER",
  group:
    "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(255) NOT NULL, created_date DATETIME DEFAULT (DATETIME('now')) NOT NULL, public BOOLEAN DEFAULT 0 NOT NULL, active BOOLEAN DEFAULT 1 NOT NULL, weight BOOLEAN NOT NULL DEFAULT 1000, status_page_id INTEGER",
  monitor_group:
    'id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, monitor_id INTEGER NOT NULL, group_id INTEGER NOT NULL, weight BOOLEAN NOT NULL DEFAULT 1000, send_url BOOLEAN DEFAULT 0 NOT NULL',
  status_page: `${PAGE_1}, google_analytics_tag_id VARCHAR`,
  status_page_cname:
    'id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, status_page_id INTEGER NOT NULL, domain VARCHAR NOT NULL UNIQUE',
  maintenance:
    "id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, title VARCHAR(150) NOT NULL, description TEXT NOT NULL, user_id INTEGER, active BOOLEAN NOT NULL DEFAULT 1, strategy VARCHAR(50) NOT NULL DEFAULT 'single', start_date DATETIME, end_date DATETIME, start_time TIME, end_time TIME, weekdays VARCHAR2(250) DEFAULT '[]', days_of_month TEXT DEFAULT '[]', interval_day INTEGER, cron TEXT, timezone VARCHAR(255), duration INTEGER",
  maintenance_status_page:
    'id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, status_page_id INTEGER NOT NULL, maintenance_id INTEGER NOT NULL',
  monitor_maintenance:
    'id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, maintenance_id INTEGER NOT NULL',
  proxy:
    'id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, user_id INT NOT NULL, protocol VARCHAR(10) NOT NULL, host VARCHAR(255) NOT NULL, port SMALLINT NOT NULL, auth BOOLEAN NOT NULL, username VARCHAR(255), password VARCHAR(255), active BOOLEAN NOT NULL DEFAULT 1',
  docker_host:
    'id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, user_id INT NOT NULL, docker_daemon VARCHAR(255), docker_type VARCHAR(255), name VARCHAR(255)',
  api_key:
    'id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, key VARCHAR(255) NOT NULL, name VARCHAR(255) NOT NULL, user_id INTEGER NOT NULL',
};

const TABLES_2: Readonly<Record<string, string>> = {
  ...TABLES_1,
  monitor: MONITOR_2,
  monitor_group: `${TABLES_1.monitor_group}, custom_url TEXT`,
  maintenance: `${TABLES_1.maintenance}, last_start_date DATETIME`,
  status_page: `${PAGE_1}, analytics_id VARCHAR, auto_refresh_interval INTEGER DEFAULT '300', analytics_script_url VARCHAR(255), show_only_last_heartbeat BOOLEAN NOT NULL DEFAULT '0', rss_title VARCHAR(255), analytics_type VARCHAR(255)`,
  knex_migrations:
    'id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(255), batch INTEGER, migration_time DATETIME',
};

/** Makes an empty database of a version in a folder; returns its path and its connection, which the test closes. */
export function createKumaDatabase(folder: string, version: 1 | 2) {
  const file = join(folder, 'kuma.db');
  const database = new DatabaseSync(file);
  for (const [table, columns] of Object.entries(version === 1 ? TABLES_1 : TABLES_2))
    database.exec(`CREATE TABLE "${table}" (${columns})`);
  const insert = (table: string, ...rows: readonly KumaRow[]) => {
    for (const row of rows) {
      const columns = Object.keys(row).map((name) => `"${name}"`);
      const places = columns.map(() => '?');
      database
        .prepare(`INSERT INTO "${table}" (${columns.join(', ')}) VALUES (${places.join(', ')})`)
        .run(...Object.values(row));
    }
  };
  return { file, database, insert };
}
