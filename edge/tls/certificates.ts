/**
 * TLS certificates. A certificate and its key are loaded when a visitor asks for a matching name; only the most
 * recently used ones stay in memory.
 */
import { createSecureContext, type SecureContext } from "node:tls";
import { LRUCache } from "lru-cache";
import type { EdgeLog } from "../log.ts";
import type { EdgeCertificate } from "../tables/table.ts";
import { indexCertificates } from "./names.ts";

/** In PEM format. The chain starts with the certificate itself. */
export interface CertificateSecret {
  readonly key: string;
  readonly chain: string;
}

export type ReadCertificate = (id: string) => Promise<CertificateSecret>;

export interface Certificates {
  /** Replaces all certificates. Open connections are kept. */
  set(certificates: readonly EdgeCertificate[]): void;
  /** Null if the name has no valid certificate that can be read. */
  contextFor(name: string): Promise<SecureContext | null>;
  /** Whether a connection opened for the name `shown` may also request the name `asked`. */
  areTogether(shown: string, asked: string): boolean;
}

/** Maximum number of certificates in memory. */
const keptContexts = 1_000;

export function createCertificates(read: ReadCertificate, log: EdgeLog): Certificates {
  let names = indexCertificates([]);
  const kept = new LRUCache<string, Promise<SecureContext>>({ max: keptContexts });

  function contextOf(id: string): Promise<SecureContext> {
    const context = kept.get(id) ?? makeContext(id);
    kept.set(id, context);
    return context;
  }

  async function makeContext(id: string): Promise<SecureContext> {
    const { key, chain } = await read(id);
    return createSecureContext({ key, cert: chain });
  }

  async function tryContext(id: string): Promise<SecureContext | null> {
    try {
      return await contextOf(id);
    } catch (err) {
      // The next request tries again.
      kept.delete(id);
      log.error({ err, certificate: id }, "Could not read a certificate; the next one for the name is used, if any");
      return null;
    }
  }

  return {
    set(certificates) {
      names = indexCertificates(certificates);
      const ids = new Set(certificates.map(({ id }) => id));
      for (const id of [...kept.keys()].filter((each) => !ids.has(each))) kept.delete(id);
    },
    async contextFor(name) {
      const now = Date.now();
      for (const { id } of names.find(name).filter(({ notAfter }) => notAfter > now)) {
        const context = await tryContext(id);
        if (context !== null) return context;
      }
      return null;
    },
    areTogether(shown, asked) {
      if (shown === asked) return true;
      const ofShown = names.find(shown);
      return names.find(asked).some((certificate) => ofShown.includes(certificate));
    },
  };
}
