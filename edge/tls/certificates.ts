/**
 * TLS certificates. A certificate and its key are loaded when a visitor asks for a matching name; only the most
 * recently used ones stay in memory.
 */
import { createSecureContext, type SecureContext } from "node:tls";
import { LRUCache } from "lru-cache";
import type { EdgeLog } from "../logs/edgeLog.ts";
import type { EdgeCertificate } from "../tables/table.ts";
import { indexCertificates } from "./certificateIndex.ts";

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
  sharesCertificate(shown: string, asked: string): boolean;
}

/** Maximum number of certificates in memory. */
const maxContexts = 1_000;

export function createCertificates(read: ReadCertificate, log: EdgeLog): Certificates {
  let index = indexCertificates([]);
  const contexts = new LRUCache<string, Promise<SecureContext>>({ max: maxContexts });

  function contextOf(id: string): Promise<SecureContext> {
    const context = contexts.get(id) ?? makeContext(id);
    contexts.set(id, context);
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
      contexts.delete(id);
      log.error({ err, certificate: id }, "Could not read a certificate; the next one for the name is used, if any");
      return null;
    }
  }

  return {
    set(certificates) {
      index = indexCertificates(certificates);
      const ids = new Set(certificates.map(({ id }) => id));
      for (const id of [...contexts.keys()].filter((each) => !ids.has(each))) contexts.delete(id);
    },
    async contextFor(name) {
      const now = Date.now();
      for (const { id } of index.find(name).filter(({ notAfter }) => notAfter > now)) {
        const context = await tryContext(id);
        if (context !== null) return context;
      }
      return null;
    },
    sharesCertificate(shown, asked) {
      if (shown === asked) return true;
      const ofShown = index.find(shown);
      return index.find(asked).some((certificate) => ofShown.includes(certificate));
    },
  };
}
