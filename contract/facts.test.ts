import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { activityTypes } from "./company/activity.ts";
import { activityCategories, operationKinds } from "./operationKinds.ts";
import { nullable, pattern, patternMessage, uuid } from "./schema.ts";
import { regions } from "./sites/regions.ts";

describe("kinds of operation", () => {
  it("have prefixes of their own, but for those that clients know under one", () => {
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

  it.each(Object.entries(operationKinds))("%s is also an activity type, in a category that there is", (kind, facts) => {
    expect(activityTypes).toContain(kind);
    expect(activityCategories).toContain(facts.category);
    expect(facts.message).toMatch(/ in progress(?:$|\. )/);
  });

  it("are called what clients know them by", () => {
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

describe("regions", () => {
  it("are thirty-five, each with an id and a name of its own", () => {
    expect(regions).toHaveLength(35);
    expect(new Set(regions.map(({ id }) => id)).size).toBe(35);
    expect(new Set(regions.map(({ name }) => name)).size).toBe(35);
    for (const { id } of regions) expect(id).toMatch(/^[a-z]+-[a-z]+\d$/);
  });
});

describe("schemas", () => {
  it("that are nullable keep everything else", () => {
    const schema = nullable(Type.String({ maxLength: 3, examples: ["abc"] }));
    expect(JSON.parse(JSON.stringify(schema))).toEqual({ type: ["string", "null"], maxLength: 3, examples: ["abc"] });
    expect(JSON.parse(JSON.stringify(nullable(Type.Enum(["a"]))))).toEqual({
      anyOf: [{ enum: ["a"] }, { type: "null" }],
    });
  });

  it("with a pattern have a sentence for those who break it", () => {
    expect(patternMessage(String(Object(uuid("")).pattern))).toBe("must be a UUID");
    expect(patternMessage(pattern("^x$", "must be an x"))).toBe("must be an x");
    expect(patternMessage("^unknown$")).toBe("must match ^unknown$");
  });
});
