/** The settings of the configuration that the site uses. */
import type { Config } from '../config/resolve-config.ts';
import { userAgentOf } from '../outbound/send-request.ts';
import type { AppOptions } from '../site/app.ts';
import { VERSION } from '../version.ts';

/** Picks the settings of the site. */
export function appSettings(config: Config): AppOptions['settings'] {
  const { checks, http } = config;
  const { siteUrl } = http;
  return {
    siteUrl,
    home: config.site.home,
    isForMembers: config.site.access === 'members',
    securityContact: http.securityContact,
    intervalMs: checks.intervalMs,
    slowOverMs: checks.slowOverMs,
    version: VERSION,
    about: {
      timeoutMs: checks.timeoutMs,
      confirmAfterMs: checks.confirmAfterMs,
      quorum: checks.quorum,
      userAgent: userAgentOf(VERSION, siteUrl),
      operator: {
        name: config.about.operator,
        url: config.about.website,
        contact: config.about.contact,
      },
      notice: config.about.notice,
    },
    trustedProxies: http.trustedProxies,
    anonymousPerMinute: config.limits.anonymousPerMinute,
    authenticatedPerMinute: config.limits.authenticatedPerMinute,
    changesPerAccount: config.limits.changesPerAccount,
    silenceMs: config.heartbeats.silenceMs,
    domainsPerAccount: config.limits.domainsPerAccount,
  };
}
