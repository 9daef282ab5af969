/** Shared schemas. An object schema with a `title` becomes a named component of the OpenAPI document. */
import { type Static, type TSchema, Type } from "typebox";

const uuidPattern = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$";
const linePattern = "^(?=.*\\S)[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]*$";

/** For each pattern, the error message for values that do not match it. */
const messages = new Map([
  [uuidPattern, "must be a UUID"],
  [linePattern, "must be one line of text without control characters, and not only spaces"],
]);

/** Registers the error message for values that do not match the pattern: `must be …`. Returns the pattern. */
export function pattern(expression: string, message: string): string {
  messages.set(expression, message);
  return expression;
}

export function patternMessage(expression: string): string {
  return messages.get(expression) ?? `must match ${expression}`;
}

/** A UUID. The format `uuid` is not used because it also accepts `urn:uuid:…`. */
export function uuid(description: string, example = "54fb80af-576c-4fdc-ba4f-b596c83f15a1") {
  return Type.String({ pattern: uuidPattern, description, examples: [example] });
}

/** The schema, or null. The field is never omitted. */
export function nullable<S extends TSchema>(schema: S) {
  const type = "type" in schema ? schema.type : undefined;
  return Type.Unsafe<Static<S> | null>(
    typeof type === "string" ? { ...schema, type: [type, "null"] } : { anyOf: [schema, { type: "null" }] },
  );
}

/** One line of text, 1 to `maxLength` characters, not only spaces. */
export function line(maxLength: number, description: string, example: string) {
  return Type.String({ minLength: 1, maxLength, pattern: linePattern, description, examples: [example] });
}

export const noNul = pattern("^[^\\u0000]*$", "must not contain the character U+0000");

/** A private key or certificates in PEM format: a few kilobytes, at most 64 KiB. */
export function pem(description: string) {
  return Type.String({ minLength: 1, maxLength: 65_536, pattern: noNul, description, examples: ["-----BEGIN …"] });
}

/** A point in time as milliseconds since 1970. */
export function milliseconds(description: string, example: number | null = 1_795_190_400_000) {
  return Type.Number({ description: `${description} Milliseconds since 1970.`, examples: [example] });
}

/** A point in time as ISO 8601 text. */
export function dateTime(description: string, example: string | null = "2026-11-23T08:00:00.000Z") {
  return Type.String({ format: "date-time", description, examples: [example] });
}

export function count(description: string, example = 1) {
  return Type.Integer({ minimum: 0, description, examples: [example] });
}

export function limit(description: string, options: { readonly default?: number } = {}) {
  return Type.Optional(Type.Integer({ minimum: 0, description, ...options }));
}

export const offset = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0, description: "Number of items to skip." }),
);

/** The id of the last item that the caller already has. */
export function after(noun: string) {
  return Type.Optional(
    uuid(
      `Only ${noun}s after the ${noun} with this id, usually the last one of the previous page. Unlike \`offset\`, it skips and repeats nothing if ${noun}s are added or removed meanwhile.`,
    ),
  );
}
