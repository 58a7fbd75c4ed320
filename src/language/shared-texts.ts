/** The languages, with the formats and texts that pages and messages share. */
import { MESSAGE_LANGUAGES, type MessageLanguage } from '../domain/alert/channel.ts';
import { describeCause, describeSymptom, type Failure } from '../domain/failure.ts';
import {
  describeNote,
  describeOpening,
  describeReason,
  type IncidentNote,
  type IncidentStatus,
  type OpeningNote,
  type Severity,
  type StatusReason,
} from '../domain/incident/incident.ts';
import { CATEGORY_TITLES, type Category } from '../domain/service.ts';
import type { ServiceStatus } from '../domain/status.ts';
import { createFormats, type Formats } from './formats.ts';
import { germanFailure, germanNote, germanOpening, germanReason, germanSymptom } from './german-failures.ts';
import type { WordOf } from './phrase.ts';

/** Codes of the supported languages (BCP 47). */
export const LANGUAGE_CODES = MESSAGE_LANGUAGES;

export type LanguageCode = MessageLanguage;

export const FORMATS: Readonly<Record<LanguageCode, Formats>> = {
  en: createFormats('en-GB', 'en'),
  de: createFormats('de-DE', 'de'),
};

export interface SharedTexts {
  readonly status: WordOf<ServiceStatus>;
  readonly incidentStatus: WordOf<IncidentStatus>;
  readonly severity: WordOf<Severity>;
  readonly category: WordOf<Category>;
  /** Why an attempt failed, in one line. */
  readonly failure: (failure: Failure) => string;
  /** The symptom of a failing service, after its name. */
  readonly symptom: (failure: Failure) => string;
  /** Why a service is down or slow, in one line that completes a sentence about it. */
  readonly reason: (reason: StatusReason) => string;
  /** The title of an incident that our own checks opened. */
  readonly incidentTitle: (opening: Pick<OpeningNote, 'name' | 'outage'>) => string;
  /** An entry that we wrote into the timeline of an incident. */
  readonly incidentNote: (note: IncidentNote) => string;
}

export const SHARED_TEXTS: Readonly<Record<LanguageCode, SharedTexts>> = {
  en: {
    status: { up: 'Operational', slow: 'Slow', down: 'Down', unknown: 'Unknown' },
    incidentStatus: {
      investigating: 'investigating',
      identified: 'identified',
      monitoring: 'monitoring',
      resolved: 'resolved',
    },
    severity: { minor: 'minor', major: 'major', critical: 'critical', maintenance: 'maintenance' },
    category: CATEGORY_TITLES,
    failure: describeCause,
    symptom: describeSymptom,
    reason: describeReason,
    incidentTitle: describeOpening,
    incidentNote: describeNote,
  },
  de: {
    status: { up: 'In Ordnung', slow: 'Langsam', down: 'Gestört', unknown: 'Unbekannt' },
    incidentStatus: {
      investigating: 'wird untersucht',
      identified: 'erkannt',
      monitoring: 'beobachtet',
      resolved: 'behoben',
    },
    severity: { minor: 'leicht', major: 'schwer', critical: 'kritisch', maintenance: 'Wartung' },
    category: {
      ai: 'KI',
      'social-media': 'Soziale Medien',
      gaming: 'Spiele',
      streaming: 'Streaming',
      productivity: 'Produktivität',
      cloud: 'Cloud',
      finance: 'Finanzen',
      communication: 'Kommunikation',
      ecommerce: 'Onlinehandel',
      developer: 'Entwicklung',
      education: 'Bildung',
      delivery: 'Lieferdienste',
      vpn: 'VPN',
      entertainment: 'Unterhaltung',
      isp: 'Internetanbieter',
      dating: 'Partnersuche',
      logistics: 'Logistik',
      travel: 'Reisen',
    },
    failure: germanFailure,
    symptom: germanSymptom,
    reason: germanReason,
    incidentTitle: germanOpening,
    incidentNote: germanNote,
  },
};
