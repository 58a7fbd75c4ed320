/** Gotify against a server that holds its documented API. */
import t from 'tap';
import { testChannel } from './channel-suite.ts';

testChannel(t, 'gotify');
