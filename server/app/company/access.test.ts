import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { NotAllowed, NotFound } from "../failures.ts";
import { authorise, type Caller, hasRole, sitesInScope, type Target } from "./access.ts";

const company = "11111111-1111-4111-8111-111111111111";
const site = "22222222-2222-4222-8222-222222222222";

const base = {
  method: "GET",
  path: "/x",
  tag: "x",
  summary: "x",
  description: "x",
  params: Type.Object({}),
  responses: {},
} as const;

const readSite: Endpoint = { ...base, verb: "read", resource: { kind: "site", from: "params.site_id" } };
const deleteSite: Endpoint = { ...readSite, verb: "delete", role: "admin", changesLive: true };
const write: Endpoint = {
  ...base,
  verb: "write",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
};
const list: Endpoint = {
  ...base,
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
};
const self: Endpoint = { ...base, verb: "read", resource: { kind: "key" } };

function caller(role: Caller["role"], scopes: readonly string[] | null = null): Caller {
  return {
    kind: "key",
    keyId: "k",
    keyName: "k",
    expiresAt: null,
    allowedAddresses: null,
    scopes,
    companyId: company,
    userId: "u",
    role,
    fullName: "A B",
    firstName: "A",
    labelledSites: [],
    userSites: null,
    isOperator: false,
    mustChangePassword: false,
    mustAddSecondFactor: false,
  };
}

const ofCompany: Target = { companyId: company, siteId: null, isLive: null };
const ofSite: Target = { companyId: company, siteId: site, isLive: null };

function outcome(row: Endpoint, who: Caller, target: Target | null): string {
  try {
    authorise(row, who, target);
    return "allowed";
  } catch (error) {
    if (error instanceof NotFound) return "not found";
    if (error instanceof NotAllowed) return `needs ${error.needs}`;
    throw error;
  }
}

describe("authorise", () => {
  it.each<[string, Endpoint, Caller, Target | null, string]>([
    ["the owner reads", readSite, caller("owner"), ofSite, "allowed"],
    ["a missing site can't be read", readSite, caller("owner"), null, "not found"],
    [
      "another company's site can't be read",
      readSite,
      caller("owner"),
      { companyId: "other", siteId: site, isLive: null },
      "not found",
    ],
    [
      "another company's site can't be read with a scope for it",
      readSite,
      caller("owner", [`site:${site}`]),
      { companyId: "o", siteId: site, isLive: null },
      "not found",
    ],
    ["billing reads", readSite, caller("billing"), ofSite, "allowed"],
    ["billing can't write", write, caller("billing"), ofCompany, "needs role:developer"],
    ["a developer writes", write, caller("developer"), ofCompany, "allowed"],
    ["a developer can't delete a site", deleteSite, caller("developer"), ofSite, "needs role:admin"],
    ["an administrator can delete a site", deleteSite, caller("admin"), ofSite, "allowed"],
    ["a read key reads", readSite, caller("owner", ["read"]), ofSite, "allowed"],
    ["a read key can't write", write, caller("owner", ["read"]), ofCompany, "needs write"],
    ["a write key can't read", readSite, caller("owner", ["write"]), ofSite, "needs read"],
    ["a key for a site reads it", readSite, caller("owner", [`site:${site}`]), ofSite, "allowed"],
    [
      "a key for a site reads it if the scope is in capitals",
      readSite,
      caller("owner", [`site:${site.toUpperCase()}`]),
      ofSite,
      "allowed",
    ],
    ["a key for another site can't read it", readSite, caller("owner", ["site:x"]), ofSite, `needs site:${site}`],
    ["a key for a site can't change the company", write, caller("owner", [`site:${site}`]), ofCompany, "needs site:*"],
    ["a key for a site gets filtered lists", list, caller("owner", [`site:${site}`]), ofCompany, "allowed"],
    ["a key for a site can read about itself", self, caller("owner", [`site:${site}`]), ofCompany, "allowed"],
    ["a non-live key can't delete a live environment", deleteSite, caller("owner", ["non-live"]), ofSite, "needs live"],
    ["a non-live key reads a live environment", readSite, caller("owner", ["non-live"]), ofSite, "allowed"],
    [
      "a missing role is reported before a scope",
      deleteSite,
      caller("developer", ["read"]),
      ofSite,
      "needs role:admin",
    ],
    [
      "a key for a site can't read a resource without a site",
      readSite,
      caller("owner", [`site:${site}`]),
      ofCompany,
      "needs site:*",
    ],
  ])("%s", (_, row, who, target, expected) => {
    expect(outcome(row, who, target)).toBe(expected);
  });
});

describe("sitesInScope", () => {
  it("is null for a key that is not limited to sites", () => {
    expect(sitesInScope(caller("owner"))).toBeNull();
    expect(sitesInScope(caller("owner", ["read", "non-live"]))).toBeNull();
    expect(sitesInScope(caller("owner", ["read", "site:A", "site:b"]))).toEqual(["a", "b"]);
  });
});

describe("hasRole", () => {
  it("orders roles: owner, admin, developer, billing", () => {
    const roles = ["billing", "developer", "admin", "owner"] as const;
    for (const [at, role] of roles.entries()) {
      expect(roles.map((least) => hasRole(caller(role), least))).toEqual(roles.map((_, other) => other <= at));
    }
  });
});
