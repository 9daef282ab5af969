import { describe, expect, test } from "vitest";
import { BadValue } from "./badValue.ts";
import { recordType, typeNames, typeOfCode } from "./recordTypes.ts";

const canonicalForm = (type: string, value: string): string => {
  const { read, write } = recordType(type);
  return write(read(value));
};

describe("values of records", () => {
  test.each([
    ["A", "192.0.2.1", "192.0.2.1"],
    ["AAAA", "2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["AAAA", "::", "::"],
    ["AAAA", "::1", "::1"],
    ["AAAA", "2001:db8::", "2001:db8::"],
    ["AAAA", "1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["AAAA", "1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["AAAA", "::ffff:192.0.2.1", "::ffff:c000:201"],
    ["AAAA", "10:0:0:0:0:0:100:0", "10::100:0"],
    ["CNAME", "Target.Example.com", "target.example.com."],
    ["CNAME", "_x.acm-validations.example.", "_x.acm-validations.example."],
    ["NS", "ns1.example.com.", "ns1.example.com."],
    ["PTR", "host.example.com", "host.example.com."],
    ["MX", "10   mail.example.com", "10 mail.example.com."],
    ["MX", "0 .", "0 ."],
    ["SRV", "0 5 5060 sip.example.com", "0 5 5060 sip.example.com."],
    ["SRV", "0 0 0 .", "0 0 0 ."],
    [
      "CAA",
      '0 issue "letsencrypt.org; validationmethods=dns-01"',
      '0 issue "letsencrypt.org; validationmethods=dns-01"',
    ],
    ["CAA", "128 ISSUE ;", '128 issue ";"'],
    ["CAA", '0 iodef "mailto:a@example.com"', '0 iodef "mailto:a@example.com"'],
    ["TXT", "v=spf1 include:example.com ~all", '"v=spf1 include:example.com ~all"'],
    ["TXT", "v=DKIM1; k=rsa; p=MIGf", '"v=DKIM1; k=rsa; p=MIGf"'],
    ["TXT", '"a" "b c"', '"a" "b c"'],
    ["TXT", '""', '""'],
    ["TXT", '"say \\"hi\\" \\\\ \\195\\164"', '"say \\"hi\\" \\\\ \\195\\164"'],
    ["TXT", "grün", '"gr\\195\\188n"'],
    ["SPF", "v=spf1 -all", '"v=spf1 -all"'],
    ["SOA", "ns1.example. host.example. 1 2 3 4 5", "ns1.example. host.example. 1 2 3 4 5"],
  ])("%s %s is written as %s", (type, value, canonical) => {
    expect(canonicalForm(type, value)).toBe(canonical);
    expect(canonicalForm(type, canonical)).toBe(canonical);
  });

  test.each([
    ["A", "192.0.2.256"],
    ["A", "192.0.2"],
    ["A", "192.0.2.01"],
    ["A", " 192.0.2.1"],
    ["A", "2001:db8::1"],
    ["A", ""],
    ["AAAA", "192.0.2.1"],
    ["AAAA", "2001:db8::1%eth0"],
    ["AAAA", "1::2::3"],
    ["CNAME", "."],
    ["CNAME", "two names"],
    ["CNAME", "a..b"],
    ["NS", "under_score.example"],
    ["NS", "."],
    ["MX", "mail.example.com"],
    ["MX", "10 -mail.example.com"],
    ["MX", "65536 mail.example.com"],
    ["MX", "-1 mail.example.com"],
    ["MX", "10 ."],
    ["MX", "10 mail.example.com more"],
    ["SRV", "0 5 sip.example.com"],
    ["SRV", "0 5 70000 sip.example.com"],
    ["CAA", "0 issue"],
    ["CAA", '256 issue "x"'],
    ["CAA", '0 is-sue "x"'],
    ["CAA", '0 issue "x" "y"'],
    ["TXT", ""],
    ["TXT", 'a "b" c'],
    ["TXT", '"open'],
    ["TXT", '"a" b'],
    ["TXT", '"a""b"'],
    ["TXT", "\\999"],
    ["TXT", "end\\"],
    ["TXT", "x".repeat(9_000)],
    ["SOA", "ns1.example. host.example. 1 2 3 4"],
  ])("%s %j is refused", (type, value) => {
    expect(() => recordType(type).read(value)).toThrow(BadValue);
  });

  test("a long text is split into pieces of 255 bytes", () => {
    const rdata = recordType("TXT").read("k".repeat(600));
    expect(rdata.length).toBe(603);
    expect([rdata[0], rdata[256], rdata[512]]).toEqual([255, 255, 90]);
  });

  test("an unknown type is refused with a list of supported types", () => {
    expect(() => recordType("NAPTR")).toThrow("A, NS, CNAME, SOA, PTR, MX, TXT, AAAA, SRV, SPF, CAA");
    expect(() => recordType("a")).toThrow(BadValue);
    expect(typeNames.map((name) => typeOfCode(recordType(name).code)?.name)).toEqual(typeNames);
    expect(typeOfCode(65_280)).toBeUndefined();
  });
});
