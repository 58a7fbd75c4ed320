/** Webhooks of channels against a server that receives them. */
import t from 'tap';
import { testChannel } from './channel-suite.ts';

testChannel(t, 'webhook');
