import { describe, expect, test } from "vitest";
import { indexCertificates } from "./certificateIndex.ts";

const certificate = (id: string, ...names: string[]) => ({ id, names, notAfter: 1 });
const index = indexCertificates([
  certificate("wild", "*.example.com", "example.com"),
  certificate("exact", "www.example.com"),
  certificate("later", "WWW.example.com"),
]);
const found = (name: string) => index.find(name).map(({ id }) => id);

describe("certificates for a name", () => {
  test("exact names come before the wildcard, in the order of the table", () => {
    expect(found("www.example.com")).toEqual(["exact", "later", "wild"]);
    expect(found("WWW.EXAMPLE.COM")).toEqual(["exact", "later", "wild"]);
  });

  test("a wildcard matches one label", () => {
    expect(found("shop.example.com")).toEqual(["wild"]);
    expect(found("a.shop.example.com")).toEqual([]);
    expect(found("example.com")).toEqual(["wild"]);
    expect(found("example.org")).toEqual([]);
    expect(found("com")).toEqual([]);
  });
});
