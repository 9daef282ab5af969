/** Looks up DNS records for PHP (`platform/dns.php`), in the form of its `dns_get_record`. */
import { Resolver } from "node:dns/promises";
import { isPublic } from "../../publicAddress.ts";
import type { GuardRules } from "./guard.ts";

type DnsRecord = Readonly<Record<string, string | number | readonly string[]>>;

const timeoutMilliseconds = 2000;
/** Errors that mean that there is no such record. */
const notFound = new Set(["ENODATA", "ENOTFOUND", "EBADNAME"]);

/** Reads the records of one type, without the fields that all types have. Node knows the lifetime of addresses only. */
const readers: Readonly<Record<string, (resolver: Resolver, name: string) => Promise<readonly DnsRecord[]>>> = {
  A: async (resolver, name) =>
    (await resolver.resolve4(name, { ttl: true }))
      .filter(({ address }) => isPublic(address))
      .map(({ address, ttl }) => ({ ttl, ip: address })),
  AAAA: async (resolver, name) =>
    (await resolver.resolve6(name, { ttl: true }))
      .filter(({ address }) => isPublic(address))
      .map(({ address, ttl }) => ({ ttl, ipv6: address })),
  NS: async (resolver, name) => (await resolver.resolveNs(name)).map((target) => ({ target })),
  CNAME: async (resolver, name) => (await resolver.resolveCname(name)).map((target) => ({ target })),
  PTR: async (resolver, name) => (await resolver.resolvePtr(name)).map((target) => ({ target })),
  MX: async (resolver, name) =>
    (await resolver.resolveMx(name)).map(({ priority, exchange }) => ({ pri: priority, target: exchange })),
  TXT: async (resolver, name) =>
    (await resolver.resolveTxt(name)).map((entries) => ({ txt: entries.join(""), entries })),
  SRV: async (resolver, name) =>
    (await resolver.resolveSrv(name)).map(({ priority, weight, port, name: target }) => ({
      ...{ pri: priority, weight, port, target },
    })),
  SOA: async (resolver, name) => {
    const { nsname, hostmaster, serial, refresh, retry, expire, minttl } = await resolver.resolveSoa(name);
    return [{ mname: nsname, rname: hostmaster, serial, refresh, retry, expire, "minimum-ttl": minttl }];
  },
  CAA: async (resolver, name) =>
    (await resolver.resolveCaa(name)).flatMap(({ critical, ...properties }) =>
      Object.entries(properties).map(([tag, value]) => ({ flags: critical, tag, value: String(value) })),
    ),
  NAPTR: async (resolver, name) =>
    (await resolver.resolveNaptr(name)).map(({ order, preference, flags, service, regexp, replacement }) => ({
      ...{ order, pref: preference, flags, services: service, regex: regexp, replacement },
    })),
};

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && notFound.has(String(error.code));
}

/** Returns the records of one type. Rejects if the resolver fails. */
async function recordsOf(resolver: Resolver, name: string, type: string): Promise<readonly DnsRecord[]> {
  const found = await readers[type]?.(resolver, name).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return (found ?? []).map((record) => ({ host: name, class: "IN", ttl: 0, type, ...record }));
}

interface Question {
  readonly name: string;
  readonly types: readonly string[];
}

/** Every question begins like this. */
const beginning = '{"sitewright":"dns"';
const maxQuestionLength = 2000;

/** Returns null if the message is not a question. */
function readQuestion(message: string): Question | null {
  if (!message.startsWith(beginning) || message.length > maxQuestionLength) return null;
  try {
    const { name, types } = JSON.parse(message);
    if (typeof name !== "string" || !Array.isArray(types)) return null;
    return { name, types: Object.keys(readers).filter((type) => types.includes(type)) };
  } catch {
    return null;
  }
}

/**
 * Answers a message of PHP: returns the records as JSON, or `null` if a lookup failed; an empty text if the message is for someone
 * else. Nothing is looked up without a network. Private addresses are left out, because PHP can't reach them.
 */
export async function answerDnsQuestion(message: string, rules: GuardRules | null): Promise<string> {
  const question = readQuestion(message);
  if (question === null) return "";
  const { name, types } = question;
  if (rules === null || rules.isOffline) return "null";
  const resolver = new Resolver({ timeout: timeoutMilliseconds, tries: 1 });
  const plain = name.replace(/\.$/, "");
  try {
    const found = await Promise.all(types.map((type) => recordsOf(resolver, plain, type)));
    return JSON.stringify(found.flat());
  } catch {
    return "null";
  }
}
