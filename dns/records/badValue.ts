/** A value, a name or a zone that can't be served. The message is meant for its author. */
export class BadValue extends Error {
  override readonly name = "BadValue";
}
