/** Names of domains as people write them, in the one form in which they are kept. */
import { isIP } from "node:net";
import { domainToASCII, domainToUnicode } from "node:url";
import { parse } from "tldts";

/** The message is a sentence that says what is wrong with the name, and what to send instead. */
export class NotADomainName extends Error {
  override readonly name = "NotADomainName";
}

export interface DomainName {
  /** In lower case, as A-labels, without the final dot. */
  readonly name: string;
  /** The registrable domain: `example.co.uk` of `www.shop.example.co.uk`. */
  readonly registrable: string;
}

const longestName = 253;
const longestLabel = 63;
const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** What people send in the place of a name, and what to tell them. */
const mistakes: readonly (readonly [RegExp, string])[] = [
  [/^\s|\s$|\s/, "has a space in it: send the name alone, such as example.com"],
  [/^[a-z][a-z0-9+.-]*:\/\//i, "begins with a scheme: send the name alone, such as example.com"],
  [/@/, "is an e-mail address: send the name alone, such as example.com"],
  [/^\*/, "is a wildcard: send example.com, to which *.example.com belongs unless is_wildcardless is true"],
  [/[/?#\\]/, "has a path: send the name alone, such as example.com"],
  [/^[^:]*:\d*\.?$/, "has a port: domains are served on the installation's own ports; send the name alone"],
  [/%/, "has a percent sign, which no host name may have"],
  [/_/, "has an underscore, which no host name may have"],
];

/** Throws `NotADomainName`. */
export function readDomainName(text: string): DomainName {
  const fail = (what: string) => new NotADomainName(`${JSON.stringify(shown(text))} ${what}.`);
  if (isAddress(text)) throw fail("is an address: a domain has a name, such as example.com");
  const mistake = mistakes.find(([pattern]) => pattern.test(text));
  if (mistake) throw fail(mistake[1]);
  const name = domainToASCII(text.replace(/[.。．｡]$/u, ""));
  if (name === "") throw fail("is no name that DNS could have: send one such as example.com");
  // Numbers are an address, in whatever form they are written.
  if (isIP(name) !== 0) throw fail("is an address: a domain has a name, such as example.com");
  const labels = name.split(".");
  if (name.length > longestName || labels.some(({ length }) => length > longestLabel)) {
    throw fail(
      `is too long: DNS has names of ${longestName} letters at most, and ${longestLabel} between two dots, in ASCII`,
    );
  }
  if (!labels.every((each) => label.test(each))) {
    throw fail("is no host name: between dots are letters, digits and hyphens, and no hyphen at an end");
  }
  // What stands for letters of another language, and for none that there are, is left as it is.
  if (/(^|\.)xn--/.test(domainToUnicode(name))) {
    throw fail("has a part that begins with xn-- and stands for no letters: send the letters themselves");
  }
  if (labels.length === 1) throw fail("has one part only: send a name such as example.com");
  const { domain } = parse(name, { allowPrivateDomains: true });
  if (domain === null) throw fail("is a public suffix, below which others register their names: send one of those");
  return { name, registrable: domain };
}

/** Whether the name is a registrable domain itself, for which DNS allows no CNAME. */
export function isApex({ name, registrable }: DomainName): boolean {
  return name === registrable;
}

/** Also in brackets, and with a port. */
function isAddress(text: string): boolean {
  return [text, text.replace(/^\[|\](:\d+)?$/g, ""), text.replace(/:\d+$/, "")].some((each) => isIP(each) !== 0);
}

/** A sentence doesn't repeat a megabyte. */
function shown(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}

/**
 * Why the installation keeps a name to itself, as the end of a sentence; null if it does not: names below its suffix are
 * those of sites, and a wildcard above it would cover them.
 */
export function keptByInstallation(name: string, isWildcard: boolean, suffix: string): string | null {
  if (name === suffix || name.endsWith(`.${suffix}`)) {
    return `lies below ${suffix}, where the installation itself gives sites their names`;
  }
  if (isWildcard && suffix.endsWith(`.${name}`)) {
    return `would cover ${suffix}, where the installation itself gives sites their names: send is_wildcardless: true`;
  }
  return null;
}

/** The names of which this one would be covered by a wildcard, nearest first: `b.c` and `c` of `a.b.c`. */
export function namesAbove(name: string): readonly string[] {
  const labels = name.split(".");
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join("."));
}
