/** Checks domain names and converts them to their stored form. */
import { isIP } from "node:net";
import { domainToASCII, domainToUnicode } from "node:url";
import { parse } from "tldts";

/** The message says what is wrong with the name and what to send instead. */
export class NotADomainName extends Error {
  override readonly name = "NotADomainName";
}

interface DomainName {
  /** In lower case, as A-labels, without the final dot. */
  readonly name: string;
  /** The registrable domain: `example.co.uk` of `www.shop.example.co.uk`. */
  readonly registrable: string;
}

const maxNameLength = 253;
const maxLabelLength = 63;
const label = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Common mistakes, and the message for each. */
const mistakes: readonly (readonly [RegExp, string])[] = [
  [/^\s|\s$|\s/, "has a space. Send only the name, such as example.com"],
  [/^[a-z][a-z0-9+.-]*:\/\//i, "has a scheme. Send only the name, such as example.com"],
  [/@/, "is an e-mail address. Send only the name, such as example.com"],
  [/^\*/, "is a wildcard. Send example.com, which includes *.example.com unless is_wildcardless is true"],
  [/[/?#\\]/, "has a path. Send only the name, such as example.com"],
  [/^[^:]*:\d*\.?$/, "has a port. Send only the name: domains are served on the installation's own ports"],
  [/%/, "has a percent sign, which is not allowed in host names"],
  [/_/, "has an underscore, which is not allowed in host names"],
];

/** Whether the name is the domain or below it. Both are in stored form. */
export function isWithinDomain(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/**
 * Whether a name that may be relative reads like one in public DNS, such as `ghs.google.com`. Not a name of two parts such as
 * `www.dev`, since words for parts of a zone are also top-level domains. In lower case, as A-labels, without the final dot.
 */
export function isPublicName(name: string): boolean {
  const { domain, isIcann } = parse(name, { validateHostname: false });
  const isLong = name.split(".").length > 2 || /\.(?:com|net|org)$/.test(name);
  return isLong && domain !== null && isIcann === true;
}

/** Checks and normalises a name. Throws `NotADomainName`. */
export function readDomainName(text: string): DomainName {
  const fail = (reason: string) => new NotADomainName(`${JSON.stringify(shorten(text))} ${reason}.`);
  if (isAddress(text)) throw fail("is an IP address. Send a name such as example.com");
  const mistake = mistakes.find(([pattern]) => pattern.test(text));
  if (mistake) throw fail(mistake[1]);
  const name = domainToASCII(text.replace(/[.。．｡]$/u, ""));
  if (name === "") throw fail("is not a valid DNS name. Send a name such as example.com");
  // `domainToASCII` turns every notation of an IPv4 address into the usual one.
  if (isIP(name) !== 0) throw fail("is an IP address. Send a name such as example.com");
  const labels = name.split(".");
  if (name.length > maxNameLength || labels.some(({ length }) => length > maxLabelLength)) {
    throw fail(`is too long. DNS allows ${maxNameLength} ASCII characters, and ${maxLabelLength} between two dots`);
  }
  if (!labels.every((each) => label.test(each))) {
    throw fail("is not a host name. Use letters, digits and hyphens between dots, and no hyphen at either end");
  }
  // `domainToUnicode` leaves invalid Punycode unchanged.
  if (/(^|\.)xn--/.test(domainToUnicode(name))) {
    throw fail("has a part starting with xn-- that can't be decoded. Send the name in Unicode");
  }
  if (labels.length === 1) throw fail("has only one part. Send a name such as example.com");
  const { domain } = parse(name, { allowPrivateDomains: true });
  if (domain === null) throw fail("is a public suffix. Send a name that is registered below it");
  return { name, registrable: domain };
}

/** Whether the name is a registrable domain itself, where DNS does not allow a CNAME. */
export function isApex({ name, registrable }: DomainName): boolean {
  return name === registrable;
}

/** Whether the text is an IP address, also in brackets or with a port. */
function isAddress(text: string): boolean {
  return [text, text.replace(/^\[|\](:\d+)?$/g, ""), text.replace(/:\d+$/, "")].some((each) => isIP(each) !== 0);
}

/** Keeps messages short. */
function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}

/**
 * Returns why the installation reserves a name, as the end of a sentence, or null if it does not. Names below its
 * suffix are temporary names of sites, and a wildcard above the suffix would cover them.
 */
export function reservedReason(
  name: string,
  isWildcard: boolean,
  { suffix, apiName }: { readonly suffix: string; readonly apiName: string | null },
): string | null {
  if (apiName !== null && (name === apiName || name.endsWith(`.${apiName}`))) {
    return "is the name of this installation's API, or below it";
  }
  if (apiName !== null && isWildcard && apiName.endsWith(`.${name}`)) {
    return `would cover ${apiName}, the name of this installation's API. Send is_wildcardless: true`;
  }
  if (name === suffix || name.endsWith(`.${suffix}`)) {
    return `is below ${suffix}, which is reserved for temporary names of sites`;
  }
  if (isWildcard && suffix.endsWith(`.${name}`)) {
    return `would cover ${suffix}, which is reserved for temporary names of sites. Send is_wildcardless: true`;
  }
  return null;
}

/** The names whose wildcard would cover this one, nearest first: `b.c` and `c` for `a.b.c`. */
export function namesAbove(name: string): readonly string[] {
  const labels = name.split(".");
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join("."));
}
