/** The shared parts of the OpenAPI document. Each is written once and referenced. */
import { exampleOf } from "./examples.ts";

export type Node = { [key: string]: unknown };

export interface Components {
  /** Replaces schemas that have a title with references. */
  publish(schema: unknown): unknown;
  /** A body with that schema. Default example: the schema's own, or one made of its parts. */
  content(schema: unknown, example?: unknown): Node;
  /** All published schemas by title. Throws if two different ones have the same title. */
  schemas(): Node;
}

export function makeComponents(): Components {
  const named = new Map<string, unknown>();

  function publish(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(publish);
    if (schema === null || typeof schema !== "object") return schema;
    const node: Node = { ...schema };
    const { title, type } = node;
    if (typeof title !== "string") return copy(node);
    if (!Array.isArray(type)) return reference(title, node);
    // It can be null only here.
    return { anyOf: [reference(title, { ...node, type: type[0] }), { type: "null" }] };
  }

  function copy(node: Node): Node {
    const isText = Array.isArray(node.enum) && node.enum.every((value) => typeof value === "string");
    const entries = Object.entries(node).map(([key, value]) => [key, publish(value)]);
    return { ...(isText && { type: "string" }), ...Object.fromEntries(entries) };
  }

  function reference(title: string, node: Node): Node {
    const schema = copy(node);
    const published = named.get(title);
    if (published !== undefined && JSON.stringify(published) !== JSON.stringify(schema)) {
      throw new Error(`Two different schemas have the title ${title}`);
    }
    named.set(title, schema);
    return { $ref: `#/components/schemas/${title}` };
  }

  return {
    publish,
    content(schema, example = exampleOf(schema)) {
      const { examples: _, ...published }: Node = { ...Object(schema) };
      return { "application/json": { schema: publish(published), example } };
    },
    schemas: () => Object.fromEntries([...named].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}
