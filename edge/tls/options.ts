/** TLS settings (`docs/decisions/tls-at-the-edge.md`). */
import { constants } from "node:crypto";
import type { TlsOptions } from "node:tls";
import type { EdgeLog } from "../logs/edgeLog.ts";
import { readHost } from "../tables/hosts.ts";
import type { Certificates } from "./certificates.ts";

/** Timeout for handshakes. */
export const handshakeMilliseconds = 10_000;
/** How long a TLS session can be resumed. */
const sessionSeconds = 3_600;

/**
 * There is no default certificate: a handshake without a name, or with a name that has no certificate, ends with an
 * alert, so that no one sees another site's certificate.
 */
export function tlsOptions(certificates: Certificates, log: EdgeLog): TlsOptions {
  return {
    minVersion: "TLSv1.2",
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    handshakeTimeout: handshakeMilliseconds,
    sessionTimeout: sessionSeconds,
    ALPNProtocols: ["h2", "http/1.1"],
    SNICallback(asked, done) {
      const name = readHost(asked);
      if (name === null) return done(null);
      certificates.contextFor(name).then(
        (context) => (context === null ? done(null) : done(null, context)),
        (err: unknown) => {
          log.error({ err }, "Could not look up a certificate");
          done(null);
        },
      );
    },
  };
}
