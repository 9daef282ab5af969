import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { activityTypes } from "./activity.ts";
import { activityCategories, operationKinds } from "./operations.ts";
import { regions } from "./regions.ts";
import { nullable, pattern, sentenceOfPattern, uuid } from "./schema.ts";

describe("kinds of operation", () => {
  it("have prefixes of their own, so that an id says its kind", () => {
    const prefixes = Object.values(operationKinds).map(({ prefix }) => prefix);
    expect(new Set(prefixes).size).toBe(prefixes.length);
    for (const prefix of prefixes) expect(prefix).toMatch(/^[a-z-]+:[a-z-]+-$/);
  });

  it.each(Object.entries(operationKinds))("%s is also an activity type, in a category that there is", (kind, facts) => {
    expect(activityTypes).toContain(kind);
    expect(activityCategories).toContain(facts.category);
    expect(facts.message).toMatch(/ in progress$/);
  });

  it("are called what clients know them by", () => {
    expect(operationKinds.addSite).toMatchObject({ prefix: "sites:add-", message: "Adding site in progress" });
    expect(operationKinds.deleteSite).toMatchObject({ prefix: "sites:delete-", message: "Deleting site in progress" });
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
    expect(sentenceOfPattern(String(Object(uuid("")).pattern))).toBe("must be a UUID");
    expect(sentenceOfPattern(pattern("^x$", "must be an x"))).toBe("must be an x");
    expect(sentenceOfPattern("^unknown$")).toBe("must match ^unknown$");
  });
});
