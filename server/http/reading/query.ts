/**
 * Converts query strings to the types of their schema. A list is a name that is repeated, or JSON. A text that does not look like its type stays a text, so that
 * validation refuses it and says what was expected.
 */
import type { TObject, TSchema } from "typebox";

/** The fields of `schema` in the query. `order_by[field]=…` and `order_by={"field":…}` both give an object. */
export function readQuery(schema: TObject, query: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = hasType(property, "object") ? readObject(name, property, query) : query[name];
    if (value !== undefined) values[name] = typeof value === "string" ? fromText(property, value) : value;
  }
  return values;
}

function readObject(name: string, schema: TSchema, query: Readonly<Record<string, unknown>>): unknown {
  if (query[name] !== undefined) return query[name];
  const prefix = `${name}[`;
  const parts = Object.entries(query).filter(([key]) => key.startsWith(prefix) && key.endsWith("]"));
  if (parts.length === 0) return undefined;
  const properties = propertiesOf(schema);
  return Object.fromEntries(
    parts.map(([key, value]) => {
      const inner = key.slice(prefix.length, -1);
      const property = properties[inner];
      return [inner, property && typeof value === "string" ? fromText(property, value) : value];
    }),
  );
}

function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  const properties = "properties" in schema ? schema.properties : undefined;
  return properties !== null && typeof properties === "object" ? { ...properties } : {};
}

function fromText(schema: TSchema, text: string): unknown {
  if (hasType(schema, "string")) return text;
  if (hasType(schema, "null") && (text === "" || text === "null")) return null;
  // Python writes `True` and `False`.
  if (hasType(schema, "boolean") && /^(true|1)$/i.test(text)) return true;
  if (hasType(schema, "boolean") && /^(false|0)$/i.test(text)) return false;
  if ((hasType(schema, "number") || hasType(schema, "integer")) && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (hasType(schema, "object")) return fromJson(text);
  if (hasType(schema, "array")) return text.startsWith("[") ? fromJson(text) : [text];
  return text;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function hasType(schema: TSchema, type: string): boolean {
  const declared = "type" in schema ? schema.type : undefined;
  return declared === type || (Array.isArray(declared) && declared.includes(type));
}
