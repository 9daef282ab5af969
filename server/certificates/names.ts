/** Names in certificates. */
import type { X509Certificate } from "node:crypto";

/** The certificate's DNS names, in lower case and in order. Browsers ignore the subject. */
export function namesOf(certificate: X509Certificate): string[] {
  const entries = certificate.subjectAltName?.split(", ") ?? [];
  const names = entries.flatMap((entry) =>
    entry.startsWith("DNS:") ? [entry.slice("DNS:".length).toLowerCase()] : [],
  );
  return [...new Set(names)];
}

/** Whether `names` cover `name`. `*.example.com` covers names one label below, and itself. */
export function covers(names: readonly string[], name: string): boolean {
  if (names.includes(name)) return true;
  const dot = name.indexOf(".");
  return dot > 0 && !name.startsWith("*.") && names.includes(`*${name.slice(dot)}`);
}
