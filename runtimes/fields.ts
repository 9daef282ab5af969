/** Reads values of unknown shape: parsed foreign JSON, PHP values, and errors of libraries. */

/** A property of the value, or undefined if the value is not an object or lacks the property. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

/** The value's own properties; empty if it is not an object. PHP writes an empty array as a JSON list. */
export function entriesOf(value: unknown): readonly (readonly [key: string, value: unknown])[] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}
