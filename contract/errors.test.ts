import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorDescriptions, errorMessages, errorSchema } from "./errors.ts";
import { exampleOf } from "./examples.ts";

const page = readFileSync(new URL("../docs/errors.md", import.meta.url), "utf8");

describe("docs/errors.md", () => {
  it("explains every status", () => {
    for (const status of Object.keys(errorMessages)) expect(page).toContain(`| ${status} |`);
  });
});

describe("error messages that clients depend on", () => {
  it("do not change", () => {
    expect(errorMessages).toMatchObject({
      400: "Bad request format",
      401: "No or invalid API key provided to the request",
      404: "Could not find data or the user does not have permissions to retrieve it",
      429: "Too many requests, please try again later.",
      500: "Error occurred while processing your request",
    });
  });

  it.each([400, 401, 403, 404, 405, 409, 413, 415, 416, 429, 500, 503] as const)(
    "are in the example of an error: %d",
    (status) => {
      expect(exampleOf(errorSchema(status))).toMatchObject({ message: errorMessages[status], status });
      expect(errorDescriptions[status]).toMatch(/\.$/);
    },
  );
});
