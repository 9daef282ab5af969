/** Examples of whole bodies, derived from the examples of their fields. */
type Node = Readonly<Record<string, unknown>>;

const exampleTime = "2026-11-23T08:00:00.000Z";

/**
 * A value that matches the schema: its own example if it has one, else its constant, default or first allowed value, else
 * one made of its parts. Optional fields are left out, unless they have an example of their own or parts. Throws if the
 * schema needs an example.
 */
export function exampleOf(schema: unknown): unknown {
  const node = toNode(schema);
  if (Array.isArray(node.examples)) return node.examples[0];
  for (const keyword of ["const", "default"]) if (node[keyword] !== undefined) return node[keyword];
  if (Array.isArray(node.enum)) return node.enum[0];
  const alternatives = node.oneOf ?? node.anyOf;
  if (Array.isArray(alternatives)) return exampleOf(alternatives[0]);
  if (Array.isArray(node.allOf)) return Object.assign({}, ...node.allOf.map(exampleOf));
  return exampleOfType(node);
}

function exampleOfType(node: Node): unknown {
  const [type, isNullable] = Array.isArray(node.type) ? [node.type[0], true] : [node.type, false];
  switch (type) {
    case "object":
      return exampleOfObject(node);
    case "array":
      return [exampleOf(node.items)];
    case "boolean":
      return false;
    case "integer":
    case "number":
      return isNullable ? null : (node.minimum ?? 0);
    case "null":
      return null;
    case "string":
      if (isNullable) return null;
      if (node.format === "date-time") return exampleTime;
  }
  throw new Error(`This schema needs an example: ${JSON.stringify(node)}`);
}

function exampleOfObject({ properties, required }: Node): Node {
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const hasExample = (property: Node) => ["examples", "items", "properties"].some((keyword) => keyword in property);
  const fields = Object.entries(toNode(properties)).map(([name, property]) => ({ name, property: toNode(property) }));
  return Object.fromEntries(
    fields
      .filter(({ name, property }) => isRequired(name) || hasExample(property))
      .map(({ name, property }) => [name, exampleOf(property)]),
  );
}

function toNode(value: unknown): Node {
  return value !== null && typeof value === "object" ? { ...value } : {};
}
