/** Custom certificates and their keys: checks them, and stores the keys sealed. */
import { randomUUID } from "node:crypto";
import { type ReadCertificate, readCustomCertificate } from "@sitewright/server/certificates/checkCustom.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { addCertificate } from "@sitewright/server/store/domains/certificates.ts";
import type { Context } from "../context.ts";
import { Refused } from "../failures.ts";

/** Throws `Refused` if the certificate can't be used or does not cover all names. */
export function readCustom(
  pair: { readonly custom_ssl_key: string; readonly custom_ssl_cert: string },
  names: readonly string[],
): ReadCertificate {
  const { custom_ssl_key: key, custom_ssl_cert: cert } = pair;
  const read = readCustomCertificate({ key, cert, names, now: new Date() });
  if (read.ok) return read.certificate;
  const { field, reason } = read.problem;
  throw new Refused("custom_certificate_refused", reason, { field });
}

/** Stores the certificate. Returns its id. */
export async function storeCustom(
  { sealer }: Context,
  transaction: DatabaseTransaction,
  environment: { readonly id: string; readonly company_id: string },
  certificate: ReadCertificate,
): Promise<string> {
  const id = randomUUID();
  await addCertificate(transaction, {
    id,
    companyId: environment.company_id,
    environmentId: environment.id,
    source: "custom",
    certificate,
    keySealed: sealer.seal(certificate.key, `certificate:${id}`),
  });
  return id;
}
