import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { activityTypes } from "./company/activity.ts";
import { activityCategories, operationKinds } from "./operationKinds.ts";
import { nullable, pattern, patternMessage, uuid } from "./schema.ts";
import { cloudRegions } from "./sites/cloudRegions.ts";

describe("operation kinds", () => {
  it("have different prefixes, except three pairs that clients know by one", () => {
    const byPrefix = Map.groupBy(Object.entries(operationKinds), ([, { prefix }]) => prefix);
    const shared = [...byPrefix.values()]
      .filter((kinds) => kinds.length > 1)
      .map((kinds) => kinds.map(([kind]) => kind));
    expect(shared).toEqual([
      ["addPlainEnvironment", "cloneEnvironment"],
      ["pushEnvironment", "comparePush"],
      ["searchAndReplace", "previewSearchAndReplace"],
    ]);
    for (const prefix of byPrefix.keys()) expect(prefix).toMatch(/^[a-zA-Z-]+:[a-z-]+-$/);
  });

  it.each(Object.entries(operationKinds))("include %s as an activity type in a known category", (kind, facts) => {
    expect(activityTypes).toContain(kind);
    expect(activityCategories).toContain(facts.category);
    expect(facts.message).toMatch(/ in progress(?:$|\. )/);
  });

  it("have the prefixes and messages that clients know", () => {
    expect(operationKinds.addSite).toMatchObject({ prefix: "sites:add-", message: "Adding site in progress" });
    expect(operationKinds.deleteSite).toMatchObject({ prefix: "sites:delete-", message: "Deleting site in progress" });
    expect(operationKinds.addEnvironment).toMatchObject({
      prefix: "environment:add-",
      message: "Adding environment in progress",
    });
    expect(operationKinds.deleteEnvironment).toMatchObject({
      prefix: "environments:delete-",
      message: "Deleting environment in progress",
    });
    expect(operationKinds.pushEnvironment).toMatchObject({
      prefix: "environments:push-",
      message: "Pushing environment in progress",
    });
    expect(operationKinds.modifyPhpVersion).toMatchObject({
      prefix: "php:modify-version-",
      message: "Modifying PHP version in progress",
    });
  });
});

describe("cloud regions", () => {
  it("have unique ids and names", () => {
    expect(cloudRegions).toHaveLength(35);
    expect(new Set(cloudRegions.map(({ id }) => id)).size).toBe(35);
    expect(new Set(cloudRegions.map(({ name }) => name)).size).toBe(35);
    for (const { id } of cloudRegions) expect(id).toMatch(/^[a-z]+-[a-z]+\d$/);
  });
});

describe("nullable", () => {
  it("keeps all other keywords of the schema", () => {
    const schema = nullable(Type.String({ maxLength: 3, examples: ["abc"] }));
    expect(JSON.parse(JSON.stringify(schema))).toEqual({ type: ["string", "null"], maxLength: 3, examples: ["abc"] });
    expect(JSON.parse(JSON.stringify(nullable(Type.Enum(["a"]))))).toEqual({
      anyOf: [{ enum: ["a"] }, { type: "null" }],
    });
  });
});

describe("pattern", () => {
  it("has an error message for values that do not match", () => {
    expect(patternMessage(String(Object(uuid("")).pattern))).toBe("must be a UUID");
    expect(patternMessage(pattern("^x$", "must be an x"))).toBe("must be an x");
    expect(patternMessage("^unknown$")).toBe("must match ^unknown$");
  });
});
