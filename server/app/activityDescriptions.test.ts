import { activityTypes, languages } from "@sitewright/contract/activity.ts";
import { describe, expect, it } from "vitest";
import { describeActivity } from "./activityDescriptions.ts";

const parameters = { siteName: "Café $1 {keyName} <b>", keyName: "Deploy" };

describe.each(activityTypes)("%s", (type) => {
  it.each(languages)("has a sentence in %s that names what it is about", (language) => {
    const [sentence = ""] = describeActivity(type, parameters, language) ?? [];
    expect(sentence).toContain(type.endsWith("Site") ? parameters.siteName : parameters.keyName);
    expect(sentence).not.toContain("{siteName}");
  });

  it("reads differently in each language", () => {
    const sentences = languages.map((language) => describeActivity(type, parameters, language)?.[0]);
    expect(new Set(sentences).size).toBe(languages.length);
  });
});

describe("an entry", () => {
  it("of an unknown kind has no description", () => {
    expect(describeActivity("launchRocket", parameters, "en")).toBeNull();
    expect(describeActivity("constructor", parameters, "en")).toBeNull();
  });

  it("without the name still reads", () => {
    expect(describeActivity("addSite", {}, "en")).toEqual(["Add the site “…”"]);
  });
});
