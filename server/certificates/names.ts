/** The names in certificates. */
import type { X509Certificate } from "node:crypto";

/** The host names that it is for, in lower case, as they stand in it. Browsers look nowhere else. */
export function namesOf(certificate: X509Certificate): string[] {
  const entries = certificate.subjectAltName?.split(", ") ?? [];
  const names = entries.flatMap((entry) =>
    entry.startsWith("DNS:") ? [entry.slice("DNS:".length).toLowerCase()] : [],
  );
  return [...new Set(names)];
}

/** Whether `name` is among them. `*.example.com` is for the names one label below, and for itself. */
export function covers(names: readonly string[], name: string): boolean {
  if (names.includes(name)) return true;
  const dot = name.indexOf(".");
  return dot > 0 && !name.startsWith("*.") && names.includes(`*${name.slice(dot)}`);
}
