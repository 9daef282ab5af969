import { describe, expect, test } from "vitest";
import {
  challengeNameOf,
  challengeRecord,
  type DomainFacts,
  evaluateRecords,
  isRight,
  ownershipRecord,
  pointingRecords,
  recordsToQuery,
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
  test("is a TXT record below the name, always the same for a company", () => {
    const record = ownershipRecord(apex);
    expect(record).toMatchObject({ name: "_sitewright-verify.example.com.", type: "TXT", isRequired: true });
    expect(record.value).toMatch(/^sitewright-verify=[0-9a-f]{32}$/);
    expect(ownershipRecord({ ...apex })).toEqual(record);
  });

  test("differs for another company and for another name", () => {
    const others = [ownershipRecord({ ...apex, companyId: companyId.replace("5", "6") }), ownershipRecord(below)];
    expect(new Set([ownershipRecord(apex).value, ...others.map(({ value }) => value)]).size).toBe(3);
  });
});

test("the record for a wildcard's certificate points to a name of the installation", () => {
  const { name, type, value } = challengeRecord(apex, installation);
  expect([name, type]).toEqual(["_acme-challenge.example.com.", "CNAME"]);
  expect(value).toMatch(/^[0-9a-f]{32}\.acme-challenge\.sites\.example\.net\.$/);
});

describe("a name points here", () => {
  test("by addresses if it is a registrable domain: DNS does not allow a CNAME there", () => {
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

  test("optionally together with the names below it", () => {
    expect(pointingRecords({ ...below, isWildcard: true }, installation)[1]).toEqual({
      name: "*.shop.example.com.",
      type: "CNAME",
      value: "demo.sites.example.net.",
      isRequired: false,
    });
  });
});

test("recordsToQuery lists all records that are checked", () => {
  expect(recordsToQuery(apex, installation)).toEqual([
    { type: "TXT", name: "_sitewright-verify.example.com." },
    { type: "CNAME", name: "_acme-challenge.example.com." },
    { type: "CNAME", name: "example.com." },
    { type: "A", name: "example.com." },
    { type: "AAAA", name: "example.com." },
  ]);
});

test("a record is right, wrong, or not checked yet", () => {
  const record = ownershipRecord(apex);
  const key = "TXT _sitewright-verify.example.com.";
  expect(isRight(record, null)).toBeNull();
  expect(isRight(record, {})).toBeNull();
  expect(isRight(record, { [key]: ["other"] })).toBe(false);
  expect(isRight(record, { [key]: ["other", record.value] })).toBe(true);
});

describe("judge() of", () => {
  const verified = { "TXT _sitewright-verify.example.com.": [ownershipRecord(apex).value] };
  test.each([
    ["no records", {}, { isVerified: false, pointsHere: false }],
    ["the ownership record", verified, { isVerified: true, pointsHere: false }],
    [
      "another company's ownership record",
      { "TXT _sitewright-verify.example.com.": [ownershipRecord({ ...apex, companyId: "x" }).value] },
      { isVerified: false, pointsHere: false },
    ],
    ["one of the addresses", { "A example.com.": ["203.0.113.7"] }, { isVerified: false, pointsHere: true }],
    [
      "an address in another notation",
      { "AAAA example.com.": ["2001:DB8:0:0:0:0:0:7"] },
      { isVerified: false, pointsHere: true },
    ],
    [
      "one right and one wrong address",
      { "A example.com.": ["203.0.113.7", "198.51.100.1"] },
      { isVerified: false, pointsHere: false },
    ],
    [
      "a wrong IPv6 address",
      { "A example.com.": ["203.0.113.7"], "AAAA example.com.": ["2001:db8::1"] },
      { isVerified: false, pointsHere: false },
    ],
    [
      "the environment's temporary name",
      { "CNAME example.com.": ["demo.sites.example.net."] },
      { isVerified: false, pointsHere: true },
    ],
    ["another name", { "CNAME example.com.": ["other.sites.example.net."] }, { isVerified: false, pointsHere: false }],
  ] as const)("%s", (_, seen, judgement) => {
    expect(evaluateRecords(apex, seen, installation)).toEqual(judgement);
  });
});

describe("challengeNameOf is", () => {
  const { value } = challengeRecord(below, installation);
  const key = `CNAME _acme-challenge.${below.name}.`;

  test.each([
    ["the name itself if our DNS serves the zone", {}, true, `_acme-challenge.${below.name}`],
    ["the target of the challenge record", { [key]: [value] }, false, value.slice(0, -1)],
    ["null if the record points elsewhere", { [key]: ["other.example."] }, false, null],
    ["null without a record", {}, false, null],
  ])("%s", (_, seen, usesOwnDns, expected) => {
    expect(challengeNameOf(below, { seen, usesOwnDns }, installation)).toBe(expected);
  });
});
