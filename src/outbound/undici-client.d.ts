/** One file of undici, which has no list of exports; its types are those of the package. */
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';

  export default Client;
}
