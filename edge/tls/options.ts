/** How the edge speaks TLS (`docs/decisions/tls-at-the-edge.md`). */
import { constants } from "node:crypto";
import type { TlsOptions } from "node:tls";
import type { EdgeLog } from "../log.ts";
import { readHost } from "../tables/hosts.ts";
import type { Certificates } from "./certificates.ts";

/** Within which a handshake must be over. */
export const handshakeMilliseconds = 10_000;
/** For which a visitor may come back without a whole handshake. */
const sessionSeconds = 3_600;

/**
 * There is no certificate but by name: without one, or with one that nobody has a certificate for, the handshake ends
 * with an alert and nobody is shown a certificate that is not theirs.
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
          log.error({ err }, "A certificate could not be looked for");
          done(null);
        },
      );
    },
  };
}
