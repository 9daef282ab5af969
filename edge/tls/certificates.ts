/**
 * The certificates that visitors are shown. Their secret part is read when somebody asks for a name, and kept for the
 * names that were asked for last, so that a thousand domains take no more memory than those in use.
 */
import { createSecureContext, type SecureContext } from "node:tls";
import { LRUCache } from "lru-cache";
import type { EdgeLog } from "../log.ts";
import type { EdgeCertificate } from "../tables/table.ts";
import { indexCertificates } from "./names.ts";

/** PEM; the chain begins with the certificate itself. */
export interface CertificateSecret {
  readonly key: string;
  readonly chain: string;
}

export type ReadCertificate = (id: string) => Promise<CertificateSecret>;

export interface Certificates {
  /** From now on these and no others; connections that are open stay. */
  set(certificates: readonly EdgeCertificate[]): void;
  /** Null if no certificate is valid for the name now, or none can be read. */
  contextFor(name: string): Promise<SecureContext | null>;
  /** Whether a visitor who was shown the certificate of one name may ask for the other on the same connection. */
  areTogether(shown: string, asked: string): boolean;
}

/** Of certificates, each for as many names as it has. */
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
      // It may be there again, or put right, when it is asked for next.
      kept.delete(id);
      log.error({ err, certificate: id }, "A certificate can't be read; the next one for the name is shown, if any");
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
