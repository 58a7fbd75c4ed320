/** The proof that a domain belongs to an account, as JSON. */
import { namedObject } from '../../http/schema.ts';
import { type Static, strictObject, Type } from '../../json-schema.ts';

export interface DomainInstructions {
  readonly recordName: string;
  readonly word: string;
  readonly fileUrl: string;
}

/** The proof of a domain, as JSON. */
export const VerificationSchema = namedObject('DomainVerification', {
  verified: Type.Boolean({ description: 'Whether the account has proved control of the domain.' }),
  txt_record: strictObject({ name: Type.String(), value: Type.String() }, 'A TXT record that proves it.'),
  file: strictObject(
    { url: Type.String(), content: Type.String() },
    'A file of the site that proves it as well.',
  ),
});

/** The proof of a domain, as JSON. */
export function viewVerification(
  accountId: number,
  domain: string,
  verified: boolean,
  proofs: { instructions(accountId: number, domain: string): DomainInstructions },
): Static<typeof VerificationSchema> {
  const { recordName, word, fileUrl } = proofs.instructions(accountId, domain);
  return {
    verified,
    txt_record: { name: recordName, value: word },
    file: { url: fileUrl, content: word },
  };
}
