import { describe, expect, it } from "vitest";
import { NotAllowed } from "../failures.ts";
import { grantedScopes } from "./scopes.ts";

describe("grantedScopes", () => {
  it.each<[string, string[] | null, string[] | null, string[] | null]>([
    ["an unlimited key passes on everything", null, null, null],
    ["or what is asked for, once", null, ["read", "read"], ["read"]],
    ["and site ids in lower case", null, ["site:ABC"], ["site:abc"]],
    ["a narrowed key passes on its own scopes", ["read", "site:a"], null, ["read", "site:a"]],
    ["or fewer of them", ["read", "write"], ["read"], ["read"]],
    ["and the kinds that were not asked for", ["read", "site:a"], ["read"], ["read", "site:a"]],
    ["a kind that it is not narrowed in is free", ["site:a"], ["write"], ["write", "site:a"]],
    ["non-live stays", ["non-live"], ["write"], ["write", "non-live"]],
    ["non-live can be added", ["write"], ["non-live"], ["write", "non-live"]],
  ])("%s", (_, own, wanted, granted) => {
    expect(grantedScopes(own, wanted)).toEqual(granted);
  });

  it.each([
    [["read"], ["write"], "write"],
    [["read"], ["read", "delete"], "delete"],
    [["site:a"], ["site:a", "site:b"], "site:b"],
  ])("a key with %j can't pass on %j", (own, wanted, missing) => {
    expect(() => grantedScopes(own, wanted)).toThrow(new NotAllowed(missing));
  });
});
