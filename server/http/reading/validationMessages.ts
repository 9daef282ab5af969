/** Error messages for values that fail validation. */
import { patternMessage } from "@sitewright/contract/schema.ts";
import type { ErrorObject } from "ajv";
import { type Fault, maxFaults } from "./malformed.ts";

/** The first fault of each value, at most `maxFaults` in total. */
export function faultsOf(errors: readonly ErrorObject[]): Fault[] {
  const faults = new Map<string, string>();
  for (const error of errors) {
    const path = pathOf(error);
    if (!faults.has(path)) faults.set(path, messageOf(error));
    if (faults.size === maxFaults) break;
  }
  return [...faults].map(([path, message]) => ({ path, message }));
}

function pathOf(error: ErrorObject): string {
  if (error.keyword !== "required") return error.instancePath;
  return `${error.instancePath}/${escapePointer(String(error.params.missingProperty))}`;
}

/** A field name as a token of a JSON pointer. */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function messageOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case "required":
      return "is required";
    case "type":
      return `must be ${[params.type].flat().map(withArticle).join(" or ")}`;
    case "enum":
      return `must be one of: ${params.allowedValues.join(", ")}`;
    case "pattern":
      return patternMessage(params.pattern);
    case "format":
      return params.format === "email"
        ? "must be an e-mail address such as ada@example.com"
        : "must be a date and time like 2027-01-01T00:00:00Z";
    case "minLength":
      return params.limit === 1 ? "must not be empty" : `must be at least ${params.limit} characters long`;
    case "maxLength":
      return `must be at most ${params.limit} characters long`;
    case "minItems":
      return `must have at least ${params.limit} items`;
    case "maxItems":
      return `must have at most ${params.limit} items`;
    case "minProperties":
      return "must have at least one field";
    case "minimum":
      return `must be at least ${params.limit}`;
    case "maximum":
      return `must be at most ${params.limit}`;
    default:
      return message ?? "is not valid";
  }
}

function withArticle(type: string): string {
  if (type === "null") return "null";
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
