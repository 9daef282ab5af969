/** A value, a name or a zone that can't be served. The message is a sentence for whoever typed it. */
export class BadValue extends Error {
  override readonly name = "BadValue";
}
