/** Strict parsing of addresses in header fields: anything malformed is refused rather than guessed. */
import { domainToASCII } from "node:url";
import { addressParser } from "postal-mime";
import { MailRefused } from "./refusal.ts";

const maxLocalBytes = 64;
const maxDomainLength = 253;
/** Letters of any language are allowed (RFC 6531); quoted local parts are not. */
const localPattern = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainPattern = /^(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*$/;

/** Returns the address with its domain in lower case and ASCII, or null if it is not an address. */
export function readAddress(text: string): string | null {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(0, at));
  const domain = domainToASCII(text.slice(at + 1)).toLowerCase();
  if (Buffer.byteLength(local) > maxLocalBytes || !localPattern.test(local)) return null;
  return domain.length <= maxDomainLength && domainPattern.test(domain) ? `${local}@${domain}` : null;
}

/** All addresses in a field, those in groups included, without duplicates. Throws `MailRefused`. */
export function readAddresses(value: string, field: string): readonly string[] {
  const malformed = () => new MailRefused(`the field ${field} contains an invalid address`);
  const found = new Set<string>();
  if (value === "") return [];
  for (const entry of addressParser(value)) {
    if (entry.group !== undefined && entry.name.includes("@")) throw malformed();
    for (const { name, address } of entry.group ?? [entry]) {
      // Valid names are followed by an address in brackets, or follow it in parentheses. Anything else is malformed.
      const isName = name === "" || value.includes(`<${address}>`) || value.includes(`(${name})`);
      const read = isName ? readAddress(address) : null;
      if (read === null) throw malformed();
      found.add(read);
    }
  }
  return [...found];
}
