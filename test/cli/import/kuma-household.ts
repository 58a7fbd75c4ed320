/** A database of Uptime Kuma with what a household has. */
import type { KumaRow } from '../kuma-databases.ts';

export const TOKEN = 'Qx7PzM2kLr';

export const telegram = {
  ...{
    type: 'telegram',
    telegramBotToken: '123456:ABC-DEF_ghi',
    telegramChatID: '-1001',
    applyExisting: true,
  },
  telegramProtectContent: true,
};

/** What a household has. */
export function fill(insert: (table: string, ...rows: readonly KumaRow[]) => void): void {
  insert('setting', { key: 'serverTimezone', value: '"Europe/Berlin"', type: 'general' });
  insert(
    'monitor',
    { id: 1, name: 'Home', type: 'group' },
    {
      id: 2,
      name: 'Shop',
      type: 'http',
      url: 'https://shop.example.com/',
      parent: 1,
      interval: 60,
      expiry_notification: 1,
    },
    {
      ...{
        id: 3,
        name: 'API',
        type: 'keyword',
        url: 'https://api.example.com/health',
        keyword: 'ok',
        interval: 60,
      },
      ...{ expiry_notification: 0, description: 'behind the balancer', headers: '{"X-Token":"s3cret"}' },
    },
    {
      id: 4,
      name: 'Nightly backup',
      type: 'push',
      push_token: TOKEN,
      interval: 3_600,
      maxretries: 2,
      retry_interval: 60,
    },
    {
      id: 5,
      name: 'Nightly Backup',
      type: 'push',
      push_token: 'another-token-of-32-characters-xx',
      interval: 60,
    },
    { id: 6, name: 'Off', type: 'group', active: 0 },
    {
      id: 7,
      name: 'NAS',
      type: 'port',
      hostname: '192.168.1.5',
      port: 5000,
      parent: 6,
      resend_interval: 10,
      interval: 60,
    },
    { id: 8, name: 'Game', type: 'gamedig', hostname: 'play.example.com', port: 27_015, game: 'csgo' },
  );
  insert('tag', { id: 1, name: 'prod', color: '#059669' }, { id: 2, name: 'room', color: '#059669' });
  insert(
    'monitor_tag',
    { monitor_id: 2, tag_id: 1, value: '' },
    { monitor_id: 2, tag_id: 2, value: 'cellar' },
  );
  insert(
    'notification',
    { id: 1, name: 'Phone', user_id: 1, is_default: 1, config: JSON.stringify(telegram) },
    {
      id: 2,
      name: 'Mail',
      user_id: 1,
      config: '{"type":"smtp","smtpTo":"a@example.com, B <b@example.com>","smtpHost":"mail.example.com"}',
    },
    { id: 3, name: 'Bark', user_id: 1, config: '{"type":"Bark","barkEndpoint":"https://bark.example.com"}' },
  );
  insert(
    'monitor_notification',
    { monitor_id: 1, notification_id: 1 },
    { monitor_id: 3, notification_id: 1 },
    { monitor_id: 7, notification_id: 1 },
    { monitor_id: 4, notification_id: 2 },
  );
  insert('status_page', {
    ...{
      id: 1,
      slug: 'our-home',
      title: 'Our home',
      description: 'What runs here.',
      icon: '/upload/logo1.png?t=1',
      theme: 'dark',
    },
    ...{ footer_text: 'Bye', custom_css: 'body {}' },
  });
  insert('status_page_cname', { status_page_id: 1, domain: 'status.example.com' });
  insert(
    'group',
    { id: 1, name: 'Jobs', public: 1, weight: 2, status_page_id: 1 },
    { id: 2, name: 'Web', public: 1, weight: 1, status_page_id: 1 },
  );
  insert(
    'monitor_group',
    { monitor_id: 3, group_id: 2, weight: 1 },
    { monitor_id: 1, group_id: 2, weight: 2, send_url: 1 },
    { monitor_id: 4, group_id: 1 },
  );
  insert('maintenance', {
    ...{
      id: 1,
      title: 'Disks',
      description: 'New disks.',
      strategy: 'recurring-weekday',
      timezone: 'SAME_AS_SERVER',
    },
    ...{
      start_time: '23:30:00',
      end_time: '01:00:00',
      weekdays: '[2,0]',
      start_date: '2026-01-05 00:00:00',
      end_date: '2027-01-05 00:00:00',
    },
  });
  insert('monitor_maintenance', { monitor_id: 1, maintenance_id: 1 }, { monitor_id: 4, maintenance_id: 1 });
  insert('maintenance_status_page', { status_page_id: 1, maintenance_id: 1 });
  insert('proxy', { user_id: 1, protocol: 'http', host: 'proxy', port: 3128, auth: 0 });
}

export const config = (type: string, more: object) => ({
  config: JSON.stringify({ type, name: 'X', ...more }),
});
