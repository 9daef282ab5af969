/** `/.well-known/security.txt` (RFC 9116): where to report vulnerabilities of the installation. */

/** It must be less than a year. A stopped installation no longer vouches for its contact. */
const validDays = 30;
const day = 86_400_000;

/** Returns a function that writes the file as of now, or null if there is no contact. */
export function securityTxtOf(contact: string | null): (() => string) | null {
  if (contact === null) return null;
  return () => {
    const expires = new Date(Math.ceil(Date.now() / day + validDays) * day);
    return `Contact: ${contact}\nExpires: ${expires.toISOString()}\n`;
  };
}
