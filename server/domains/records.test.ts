import { describe, expect, test } from "vitest";
import {
  challengeNameOf,
  challengeRecord,
  type DomainFacts,
  isRight,
  judge,
  ownershipRecord,
  pointingRecords,
  recordsToAsk,
} from "./records.ts";

const companyId = "54fb80af-576c-4fdc-ba4f-b596c83f15a1";
const installation = { edgeAddresses: ["203.0.113.7", "2001:db8::7"], siteSuffix: "sites.example.net" };
const apex: DomainFacts = {
  companyId,
  name: "example.com",
  isWildcard: false,
  temporaryName: "demo.sites.example.net",
};
const below: DomainFacts = { ...apex, name: "shop.example.com" };

describe("the record that proves ownership", () => {
  test("is a TXT below the name, always the same for a company", () => {
    const record = ownershipRecord(apex);
    expect(record).toMatchObject({ name: "_sitewright-verify.example.com.", type: "TXT", isRequired: true });
    expect(record.value).toMatch(/^sitewright-verify=[0-9a-f]{32}$/);
    expect(ownershipRecord({ ...apex })).toEqual(record);
  });

  test("is another one for another company, and for another name", () => {
    const others = [ownershipRecord({ ...apex, companyId: companyId.replace("5", "6") }), ownershipRecord(below)];
    expect(new Set([ownershipRecord(apex).value, ...others.map(({ value }) => value)]).size).toBe(3);
  });
});

test("the record for a wildcard's certificate leads to a name of the installation", () => {
  const { name, type, value } = challengeRecord(apex, installation);
  expect([name, type]).toEqual(["_acme-challenge.example.com.", "CNAME"]);
  expect(value).toMatch(/^[0-9a-f]{32}\.acme-challenge\.sites\.example\.net\.$/);
});

describe("a name is pointed here", () => {
  test("by addresses where it is what somebody registers: DNS allows no CNAME there", () => {
    expect(pointingRecords(apex, installation)).toEqual([
      { name: "example.com.", type: "A", value: "203.0.113.7", isRequired: true },
      { name: "example.com.", type: "AAAA", value: "2001:db8::7", isRequired: true },
    ]);
  });

  test("by a CNAME otherwise", () => {
    expect(pointingRecords(below, installation)).toEqual([
      { name: "shop.example.com.", type: "CNAME", value: "demo.sites.example.net.", isRequired: true },
    ]);
  });

  test("and so are the names below it, which it can do without", () => {
    expect(pointingRecords({ ...below, isWildcard: true }, installation)[1]).toEqual({
      name: "*.shop.example.com.",
      type: "CNAME",
      value: "demo.sites.example.net.",
      isRequired: false,
    });
  });
});

test("everything is asked for that is judged", () => {
  expect(recordsToAsk(apex, installation)).toEqual([
    { type: "TXT", name: "_sitewright-verify.example.com." },
    { type: "CNAME", name: "_acme-challenge.example.com." },
    { type: "CNAME", name: "example.com." },
    { type: "A", name: "example.com." },
    { type: "AAAA", name: "example.com." },
  ]);
});

test("a record is right, wrong, or not looked at yet", () => {
  const record = ownershipRecord(apex);
  const key = "TXT _sitewright-verify.example.com.";
  expect(isRight(record, null)).toBeNull();
  expect(isRight(record, {})).toBeNull();
  expect(isRight(record, { [key]: ["other"] })).toBe(false);
  expect(isRight(record, { [key]: ["other", record.value] })).toBe(true);
});

describe("what was seen means", () => {
  const verified = { "TXT _sitewright-verify.example.com.": [ownershipRecord(apex).value] };
  test.each([
    ["nothing", {}, { isVerified: false, pointsHere: false }],
    ["ownership", verified, { isVerified: true, pointsHere: false }],
    [
      "somebody else's ownership",
      { "TXT _sitewright-verify.example.com.": [ownershipRecord({ ...apex, companyId: "x" }).value] },
      { isVerified: false, pointsHere: false },
    ],
    ["one of the addresses", { "A example.com.": ["203.0.113.7"] }, { isVerified: false, pointsHere: true }],
    [
      "an address written in another way",
      { "AAAA example.com.": ["2001:DB8:0:0:0:0:0:7"] },
      { isVerified: false, pointsHere: true },
    ],
    [
      "a part of the visitors only",
      { "A example.com.": ["203.0.113.7", "198.51.100.1"] },
      { isVerified: false, pointsHere: false },
    ],
    [
      "another place for version 6",
      { "A example.com.": ["203.0.113.7"], "AAAA example.com.": ["2001:db8::1"] },
      { isVerified: false, pointsHere: false },
    ],
    [
      "the name from the installation",
      { "CNAME example.com.": ["demo.sites.example.net."] },
      { isVerified: false, pointsHere: true },
    ],
    ["another name", { "CNAME example.com.": ["other.sites.example.net."] }, { isVerified: false, pointsHere: false }],
  ] as const)("%s", (_, seen, judgement) => {
    expect(judge(apex, seen, installation)).toEqual(judgement);
  });
});

describe("where what an authority asks about a domain is answered by our DNS", () => {
  const { value } = challengeRecord(below, installation);
  const key = `CNAME _acme-challenge.${below.name}.`;

  test.each([
    ["at the name itself, where our DNS has the zone", {}, true, `_acme-challenge.${below.name}`],
    ["where the record leads to", { [key]: [value] }, false, value.slice(0, -1)],
    ["nowhere, where the record leads elsewhere", { [key]: ["other.example."] }, false, null],
    ["nowhere, where there is none", {}, false, null],
  ])("%s", (_, seen, usesOwnDns, expected) => {
    expect(challengeNameOf(below, { seen, usesOwnDns }, installation)).toBe(expected);
  });
});
