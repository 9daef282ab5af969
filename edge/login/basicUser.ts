/** Reads the user's name from `Authorization: Basic` (RFC 7617). */

/** WordPress's limit. Longer names belong to nobody, but would be stored. */
const maxLength = 60;

/** Returns the name in lower case, possibly empty. Null if the header has no password of this kind. */
export function readBasicUser(header: string | undefined): string | null {
  const credentials = /^basic\b\s*(.*)$/i.exec(header ?? "")?.[1];
  if (credentials === undefined) return null;
  const [name = ""] = Buffer.from(credentials, "base64").toString().split(":");
  return name.toLowerCase().slice(0, maxLength);
}
