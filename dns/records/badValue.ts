/** Thrown for a value, a name or a zone that can't be served. The message is for the user who wrote it. */
export class BadValue extends Error {
  override readonly name = "BadValue";
}
