import { describe, expect, test } from "vitest";
import { createRandomIntegers } from "../testing/random.ts";
import { BadValue } from "./badValue.ts";
import { readTypeName, recordType, typeNames, typeOfCode } from "./recordTypes.ts";

const canonicalForm = (type: string, value: string): string => {
  const { read, write } = recordType(type);
  return write(read(value));
};

const lower = (bytes: Buffer) => bytes.toString("latin1").toLowerCase();

function refusedOr<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadValue) return null;
    throw error;
  }
}

const svcbOfRfc9460 = "16 foo.example.org. mandatory=alpn,ipv4hint alpn=h2,h3-19 ipv4hint=192.0.2.1";

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
    ["DS", `12345 13 2 ${"ab".repeat(32)}`, `12345 13 2 ${"AB".repeat(32)}`],
    ["DS", `1 8 1 ${"ab ".repeat(20)}`, `1 8 1 ${"AB".repeat(20)}`],
    ["DS", "1 8 250 00", "1 8 250 00"],
    ["SSHFP", `4 2 ${"0f".repeat(32)}`, `4 2 ${"0F".repeat(32)}`],
    ["TLSA", `3 1 1 ${"0f".repeat(32)}`, `3 1 1 ${"0F".repeat(32)}`],
    ["TLSA", "3 0 0 3082 0100", "3 0 0 30820100"],
    [
      "NAPTR",
      '100 10 U E2U+sip "!^.*$!sip:info@example.com!i" .',
      '100 10 "U" "E2U+sip" "!^.*$!sip:info@example.com!i" .',
    ],
    ["NAPTR", '0 0 "" "" "" Next.example', '0 0 "" "" "" next.example.'],
    ["HTTPS", "0 www.example.com", "0 www.example.com."],
    ["HTTPS", '1 . alpn="h3,h2" ipv4hint=192.0.2.1', "1 . alpn=h3,h2 ipv4hint=192.0.2.1"],
    ["HTTPS", "1 . ipv6hint=2001:DB8::1,::1 ALPN=h2", "1 . alpn=h2 ipv6hint=2001:db8::1,::1"],
    ["HTTPS", '1 . ech="AEX+DQ==" alpn=h2 no-default-alpn', '1 . alpn=h2 no-default-alpn ech="AEX+DQ=="'],
    ["SVCB", "16 foo.example.org alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1", svcbOfRfc9460],
    ["SVCB", '1 _8443._foo port="53"', "1 _8443._foo. port=53"],
    ["SVCB", "1 foo.example.com. key667=hello\\210qoo", '1 foo.example.com. key667="hello\\210qoo"'],
    ["SVCB", '16 . alpn="f\\\\\\\\oo\\\\,bar,h2"', '16 . alpn="f\\\\\\\\oo\\\\,bar,h2"'],
    ["SVCB", "16 . alpn=f\\\\\\092oo\\092,bar,h2", '16 . alpn="f\\\\\\\\oo\\\\,bar,h2"'],
    ["SVCB", '1 . dohpath="/q{?dns}" alpn=h2', '1 . alpn=h2 key7="/q{?dns}"'],
    ["SVCB", "1 . key1=\\002h2 key65534", "1 . alpn=h2 key65534"],
    ["A", "\\# 4 C0000201", "192.0.2.1"],
    ["TXT", "\\# 3 02 61 62", '"ab"'],
    ["TXT", "\\#hello", '"#hello"'],
    ["CNAME", "\\# 9 034157530365786100", "aws.exa."],
    ["HTTPS", "\\# 12 0001 00 0001 0005 0268330161", "1 . alpn=h3,a"],
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
    ["DS", `1 13 2 ${"ab".repeat(31)}`],
    ["DS", `65536 13 2 ${"ab".repeat(32)}`],
    ["DS", "1 13 2"],
    ["DS", `1 13 4 ${"ab".repeat(32)}`],
    ["SSHFP", `4 2 ${"0g".repeat(32)}`],
    ["SSHFP", `256 2 ${"00".repeat(32)}`],
    ["SSHFP", "4 250 000"],
    ["TLSA", `3 1 2 ${"00".repeat(32)}`],
    ["TLSA", "3 1 x 00"],
    ["TLSA", ""],
    ["NAPTR", '100 10 "U" "E2U+sip" "" '],
    ["NAPTR", '100 10 "U" "E2U+sip" "no delimiters" .'],
    ["NAPTR", '100 10 "U!" "E2U+sip" "" .'],
    ["NAPTR", '70000 10 "U" "E2U+sip" "" .'],
    ["NAPTR", `1 10 "U" "${"x".repeat(256)}" "" .`],
    ["HTTPS", "1"],
    ["HTTPS", "x ."],
    ["HTTPS", "65536 ."],
    ["HTTPS", "0 . alpn=h2"],
    ["HTTPS", "1 . alpn"],
    ["HTTPS", "1 . alpn=h2,,h3"],
    ["HTTPS", "1 . alpn=h2,"],
    ["HTTPS", `1 . alpn=${"x".repeat(256)}`],
    ["HTTPS", "1 . alpn=h2 alpn=h3"],
    ["HTTPS", "1 . alpn=h2 key1=\\002h3"],
    ["HTTPS", "1 . no-default-alpn"],
    ["HTTPS", "1 . no-default-alpn=x alpn=h2"],
    ["HTTPS", "1 . port=65536"],
    ["HTTPS", "1 . ipv4hint=2001:db8::1"],
    ["HTTPS", "1 . ipv4hint="],
    ["HTTPS", "1 . ech=!"],
    ["HTTPS", "1 . mandatory=alpn"],
    ["HTTPS", "1 . mandatory=port alpn=h2"],
    ["HTTPS", "1 . mandatory=ipv4hint,key99 key99=x"],
    ["HTTPS", "1 . mandatory=mandatory"],
    ["HTTPS", "1 . mandatory=port,port port=1"],
    ["HTTPS", "1 . key65535=x"],
    ["HTTPS", "1 . key01=x"],
    ["HTTPS", "1 . what=x"],
    ["HTTPS", "1 . key1=\\005h2"],
    ["HTTPS", "1 . key3=\\001"],
    ["HTTPS", '1 . alpn="h2'],
    ["A", "\\# 3 C00002"],
    ["A", "\\# 4 C00002"],
    ["A", "\\# 4 C000020g"],
    ["A", "\\#"],
    ["MX", "\\# 1 00"],
    ["TXT", "\\# 2 0561"],
    ["HTTPS", "\\# 6 000100 0001 00"],
    ["HTTPS", "\\# 8 000100 0001 0005 02"],
    ["DS", "\\# 0"],
  ])("%s %j is refused", (type, value) => {
    expect(() => recordType(type).read(value)).toThrow(BadValue);
  });

  test.each(typeNames)("any bytes of a %s record are refused, or kept as they are", (type) => {
    const random = createRandomIntegers(type.length);
    const { read, write } = recordType(type);
    for (let count = 0; count < 2_000; count += 1) {
      // Mostly small numbers, which are lengths and keys.
      const bytes = Buffer.from(Array.from({ length: random(32) }, () => (random(4) === 0 ? random(256) : random(8))));
      const value = `\\# ${bytes.length} ${bytes.toString("hex")}`.trim();
      const data = refusedOr(() => read(value));
      if (data !== null) expect([value, lower(data)]).toEqual([value, lower(bytes)]);
      if (data !== null) expect(read(write(data))).toEqual(data);
    }
  });

  test("a long text is split into pieces of 255 bytes", () => {
    const rdata = recordType("TXT").read("k".repeat(600));
    expect(rdata.length).toBe(603);
    expect([rdata[0], rdata[256], rdata[512]]).toEqual([255, 255, 90]);
  });

  test("an unknown type is refused with a list of supported types", () => {
    expect(() => recordType("LOC")).toThrow(
      "A, NS, CNAME, SOA, PTR, MX, TXT, AAAA, SRV, NAPTR, DS, SSHFP, TLSA, SVCB, HTTPS, SPF, CAA",
    );
    expect(() => recordType("a")).toThrow(BadValue);
    expect(typeNames.map((name) => typeOfCode(recordType(name).code)?.name)).toEqual(typeNames);
    expect(typeOfCode(65_280)).toBeUndefined();
    expect(["TYPE65", "type1", "TYPE65280", "https"].map(readTypeName)).toEqual(["HTTPS", "A", "TYPE65280", "HTTPS"]);
  });
});
