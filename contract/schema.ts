/** Pieces that the schemas of several nouns are made of. A schema with a `title` becomes a named part of the OpenAPI document. */
import { type Static, type TSchema, Type } from "typebox";

const uuidPattern = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$";
const linePattern = "^(?=.*\\S)[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]*$";

/** What a text that breaks a pattern is told: patterns are for programs. */
const patternSentences = new Map([
  [uuidPattern, "must be a UUID"],
  [linePattern, "must be one line of text, without control characters and not only spaces"],
]);

/** A pattern with the sentence that someone reads who breaks it: `must be …`. */
export function pattern(expression: string, sentence: string): string {
  patternSentences.set(expression, sentence);
  return expression;
}

export function sentenceOfPattern(expression: string): string {
  return patternSentences.get(expression) ?? `must match ${expression}`;
}

/** A UUID. Not the `uuid` format, which also lets `urn:uuid:…` through. */
export function uuid(description: string, example = "54fb80af-576c-4fdc-ba4f-b596c83f15a1") {
  return Type.String({ pattern: uuidPattern, description, examples: [example] });
}

/** A schema, or null. Sent as null and never left out. */
export function nullable<S extends TSchema>(schema: S) {
  const type = "type" in schema ? schema.type : undefined;
  return Type.Unsafe<Static<S> | null>(
    typeof type === "string" ? { ...schema, type: [type, "null"] } : { anyOf: [schema, { type: "null" }] },
  );
}

/** A line of text that a person typed, 1 to `maxLength` characters. */
export function line(maxLength: number, description: string, example: string) {
  return Type.String({ minLength: 1, maxLength, pattern: linePattern, description, examples: [example] });
}

export function limit(description: string, options: { readonly default?: number } = {}) {
  return Type.Optional(Type.Integer({ minimum: 0, description, ...options }));
}

export const offset = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0, description: "How many items to skip." }),
);
