import { expect, test } from "vitest";
import { shownCertificates } from "./shownCertificates.ts";

const served = [
  { name: "example.com", environmentId: "a", isWildcard: true },
  { name: "shop.example.com", environmentId: "v", isWildcard: true },
  { name: "example.net", environmentId: "v", isWildcard: false },
  { name: "www.example.net", environmentId: "a", isWildcard: false },
];

/** The names for which a certificate of the environment is shown. */
const shown = (environmentId: string, ...names: string[]) =>
  shownCertificates([{ id: "1", environmentId, names, notAfter: new Date() }], served).flatMap((each) => each.names);

test.each([
  ["a", ["example.com", "*.example.com"], ["example.com", "*.example.com"]],
  ["a", ["a.b.example.com", "blog.example.com"], ["a.b.example.com", "blog.example.com"]],
  ["a", ["shop.example.com", "*.shop.example.com", "a.shop.example.com"], []],
  ["v", ["*.example.com"], ["shop.example.com"]],
  ["v", ["*.shop.example.com", "shop.example.com"], ["*.shop.example.com", "shop.example.com"]],
  ["v", ["example.net", "*.example.net", "other.example.net"], ["example.net"]],
  ["a", ["example.net", "*.example.net"], ["www.example.net"]],
  ["a", ["elsewhere.example", "com"], []],
])("certificates of %s with %o are shown for %o", (environmentId, names, expected) => {
  expect(shown(environmentId, ...names)).toEqual(expected);
});
