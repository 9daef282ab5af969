/** The addresses in a field, read strictly: whatever is not quite an address is refused rather than guessed at. */
import { domainToASCII } from "node:url";
import { addressParser } from "postal-mime";
import { MailRefused } from "./refusal.ts";

const localBytes = 64;
const domainBytes = 253;
/** Letters of any language are allowed (RFC 6531); quoted local parts are not. */
const localPattern = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainPattern = /^(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*$/;

/** With the domain as mail servers know it, in lower case and in ASCII; null if it is no address. */
export function readAddress(text: string): string | null {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(0, at));
  const domain = domainToASCII(text.slice(at + 1)).toLowerCase();
  if (Buffer.byteLength(local) > localBytes || !localPattern.test(local)) return null;
  return domain.length <= domainBytes && domainPattern.test(domain) ? `${local}@${domain}` : null;
}

/** Every address in the field's content, groups unfolded, each once. Throws `MailRefused`. */
export function readAddresses(value: string, field: string): readonly string[] {
  const malformed = () => new MailRefused(`its field ${field} has something that is no address`);
  const found = new Set<string>();
  if (value === "") return [];
  for (const entry of addressParser(value)) {
    if (entry.group !== undefined && entry.name.includes("@")) throw malformed();
    for (const { name, address } of entry.group ?? [entry]) {
      // A name stands before an address in brackets, or in brackets behind it. Whatever else it is was not meant as one.
      const isName = name === "" || value.includes(`<${address}>`) || value.includes(`(${name})`);
      const read = isName ? readAddress(address) : null;
      if (read === null) throw malformed();
      found.add(read);
    }
  }
  return [...found];
}
