/** The certificate of the API's name, which is in no table, so that the API is reachable even before the first table. */
import { createSecureContext, type SecureContext } from "node:tls";
import type { EdgeLog } from "../logs/edgeLog.ts";
import type { CertificateSecret, Certificates } from "../tls/certificates.ts";

export interface ApiCertificate {
  readonly name: string;
  /** Null if there is no certificate yet. Called for each handshake, so that a renewed certificate is noticed. */
  readonly readCertificate: () => Promise<CertificateSecret | null>;
}

/** The certificates of sites, and that of the API. No site's certificate is ever shown for the API's name. */
export function withApiCertificate(certificates: Certificates, api: ApiCertificate, log: EdgeLog): Certificates {
  let current: { readonly chain: string; readonly context: SecureContext } | null = null;

  async function readContext(): Promise<SecureContext | null> {
    try {
      const secret = await api.readCertificate();
      if (secret === null) return null;
      if (current?.chain !== secret.chain) {
        current = { chain: secret.chain, context: createSecureContext({ key: secret.key, cert: secret.chain }) };
      }
      return current.context;
    } catch (err) {
      log.error({ err }, "Could not read the certificate of SITEWRIGHT_API_NAME");
      return current?.context ?? null;
    }
  }

  return {
    ...certificates,
    sharesCertificate: (shown, asked) =>
      [shown, asked].includes(api.name) ? shown === asked : certificates.sharesCertificate(shown, asked),
    contextFor: (name) => (name === api.name ? readContext() : certificates.contextFor(name)),
  };
}
