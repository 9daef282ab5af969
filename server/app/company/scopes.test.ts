import { describe, expect, it } from "vitest";
import { NotAllowed } from "../failures.ts";
import { grantedScopes } from "./scopes.ts";

describe("grantedScopes", () => {
  it.each<[string, string[] | null, string[] | null, string[] | null]>([
    ["an unrestricted key grants everything", null, null, null],
    ["an unrestricted key grants requested scopes once", null, ["read", "read"], ["read"]],
    ["site ids are converted to lower case", null, ["site:ABC"], ["site:abc"]],
    ["a restricted key grants its own scopes", ["read", "site:a"], null, ["read", "site:a"]],
    ["a restricted key grants some of its scopes", ["read", "write"], ["read"], ["read"]],
    ["kinds that are not requested are inherited", ["read", "site:a"], ["read"], ["read", "site:a"]],
    ["kinds that the key does not restrict are free", ["site:a"], ["write"], ["write", "site:a"]],
    ["non-live is inherited", ["non-live"], ["write"], ["write", "non-live"]],
    ["non-live can be added", ["write"], ["non-live"], ["write", "non-live"]],
  ])("%s", (_, own, wanted, granted) => {
    expect(grantedScopes(own, wanted)).toEqual(granted);
  });

  it.each([
    [["read"], ["write"], "write"],
    [["read"], ["read", "delete"], "delete"],
    [["site:a"], ["site:a", "site:b"], "site:b"],
  ])("a key with %j can't grant %j", (own, wanted, missing) => {
    expect(() => grantedScopes(own, wanted)).toThrow(new NotAllowed(missing));
  });
});
