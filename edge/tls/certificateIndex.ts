/** Finds the certificates for a name, in the order of the table. */
import type { EdgeCertificate } from "../tables/table.ts";

interface CertificateIndex {
  /** Exact names come before wildcards, which match one label only (RFC 6125, section 6.4.3). */
  find(name: string): readonly EdgeCertificate[];
}

export function indexCertificates(certificates: readonly EdgeCertificate[]): CertificateIndex {
  const byName = new Map<string, EdgeCertificate[]>();
  for (const certificate of certificates) {
    for (const name of new Set(certificate.names.map((each) => each.toLowerCase()))) {
      const others = byName.get(name);
      if (others === undefined) byName.set(name, [certificate]);
      else others.push(certificate);
    }
  }
  return {
    find(name) {
      const lower = name.toLowerCase();
      const dot = lower.indexOf(".");
      const wild = dot === -1 ? [] : (byName.get(`*${lower.slice(dot)}`) ?? []);
      return [...(byName.get(lower) ?? []), ...wild];
    },
  };
}
