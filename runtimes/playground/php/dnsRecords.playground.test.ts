/** PHP's functions that read DNS records, with a resolver that knows a few names. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openPhpNetwork, type PhpNetwork } from "../testing/phpNetwork.ts";
import { answerDnsQuestion } from "./dnsRecords.ts";

const lookups = vi.hoisted(() => ({ count: 0 }));

vi.mock("node:dns/promises", async (importOriginal) => {
  const failure = (code: string) => Object.assign(new Error(code), { code });
  /** Finds these records for `example.org`, and no records for other names. */
  const find =
    <Found>(records: Found) =>
    async (name: string): Promise<Found> => {
      lookups.count += 1;
      if (name === "broken.example") throw failure("ETIMEOUT");
      if (name !== "example.org") throw failure("ENODATA");
      return records;
    };
  class Resolver {
    resolve4 = find([
      { address: "93.184.216.34", ttl: 60 },
      { address: "10.1.2.3", ttl: 60 },
    ]);
    resolve6 = find([{ address: "2606:2800::1", ttl: 70 }]);
    resolveMx = find([{ priority: 10, exchange: "mail.example.org" }]);
    resolveTxt = find([["v=spf1 ", "-all"]]);
    resolveNs = find(["ns1.example.org"]);
    resolveCaa = find([{ critical: 0, issue: "letsencrypt.org" }]);
    resolveSoa = find({
      ...{ nsname: "ns1.example.org", hostmaster: "root.example.org" },
      ...{ serial: 1, refresh: 2, retry: 3, expire: 4, minttl: 5 },
    });
    resolveCname = find([]);
    resolvePtr = find([]);
    resolveSrv = find([{ priority: 1, weight: 2, port: 3, name: "sip.example.org" }]);
    resolveNaptr = find([]);
  }
  return { ...(await importOriginal<object>()), Resolver };
});

let network: PhpNetwork;
beforeAll(async () => {
  network = await openPhpNetwork({ http: (_request, response) => response.end() });
}, 60_000);
afterAll(() => network.close());

beforeEach(() => {
  lookups.count = 0;
});

const php = async (code: string) => JSON.parse(await network.run(`echo json_encode(${code});`));

test("records have PHP's form", async () => {
  const common = { host: "example.org", class: "IN" };
  expect(await php("dns_get_record('example.org', DNS_A + DNS_AAAA)")).toEqual([
    { ...common, ttl: 60, type: "A", ip: "93.184.216.34" },
    { ...common, ttl: 70, type: "AAAA", ipv6: "2606:2800::1" },
  ]);
  expect(await php("dns_get_record('example.org.', DNS_TXT)")).toEqual([
    { ...common, ttl: 0, type: "TXT", txt: "v=spf1 -all", entries: ["v=spf1 ", "-all"] },
  ]);
  expect(await php("array_column(dns_get_record('example.org'), 'type')")).toEqual(
    expect.arrayContaining(["A", "AAAA", "MX", "NS", "SOA", "TXT", "CAA"]),
  );
  expect(
    await php(
      "[dns_get_record('example.org', DNS_CAA)[0]['value'], dns_get_record('example.org', DNS_SOA)[0]['minimum-ttl']]",
    ),
  ).toEqual(["letsencrypt.org", 5]);
});

describe("a form that checks an address's domain", () => {
  test("accepts one that receives mail, and no other", async () => {
    const domains = "['example.org', 'unknown.example', 'broken.example']";
    expect(await php(`array_map(fn ($d) => checkdnsrr($d), ${domains})`)).toEqual([true, false, false]);
    expect(await php(`array_map(fn ($d) => dns_check_record($d, 'any'), ${domains})`)).toEqual([true, false, false]);
    expect(await php("[getmxrr('example.org', $hosts, $weights), $hosts, $weights]")).toEqual([
      true,
      ["mail.example.org"],
      [10],
    ]);
    expect(await php("[dns_get_mx('unknown.example', $hosts), $hosts]")).toEqual([false, []]);
  });
});

test("a failed lookup differs from one that finds nothing", async () => {
  expect(await php("[dns_get_record('unknown.example', DNS_MX), @dns_get_record('broken.example', DNS_MX)]")).toEqual([
    [],
    false,
  ]);
});

test.each(["checkdnsrr('')", "checkdnsrr('example.org', 'WRONG')", "dns_get_record('example.org', -1)"])(
  "%s is an error",
  async (call) => {
    const code = `try { ${call}; } catch (ValueError $e) { echo 'error'; }`;
    expect(await network.run(code)).toBe("error");
  },
);

test("nothing is looked up for other messages, unknown types, or without a network", async () => {
  const question = (types: readonly unknown[]) => JSON.stringify({ sitewright: "dns", name: "example.org", types });
  expect(await answerDnsQuestion(question(["MX"]), { ...network.rules, isOffline: true })).toBe("null");
  expect(await answerDnsQuestion(question(["MX"]), null)).toBe("null");
  expect(await answerDnsQuestion(question(["constructor", 5]), network.rules)).toBe("[]");
  for (const message of [
    "",
    "{}",
    '{"sitewright":"private"}',
    '{"sitewright":"dns"',
    '{"sitewright":"dns","name":5}',
  ]) {
    expect(await answerDnsQuestion(message, network.rules)).toBe("");
  }
  expect(lookups.count).toBe(0);
});
