/** Checks a certificate that an authority issued, before it is stored. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { orderChain } from "./chain.ts";
import { describe, type ReadCertificate } from "./checkCustom.ts";
import { covers } from "./names.ts";
import { isCertificate, readBlocks } from "./pem.ts";

/** `key` is PEM. Throws if the certificate does not belong to this key or does not cover all of `names`. */
export function readIssued(chain: string, key: string, names: readonly string[]): ReadCertificate {
  const privateKey = createPrivateKey(key);
  const certificates = readBlocks(chain)
    .filter(isCertificate)
    .map(({ text }) => new X509Certificate(text));
  const read = describe(orderChain(certificates, privateKey), privateKey);
  const missing = names.find((name) => !covers(read.names, name));
  if (missing !== undefined) throw new Error(`The certificate authority sent a certificate that is not for ${missing}`);
  return read;
}
