import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Endpoint } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { refusalReasons } from "./errors.ts";
import { openApiDocument } from "./openapi.ts";

interface Response {
  readonly description: string;
  readonly content: Record<string, { example?: { status: number } }>;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
}

/** The tested parts of the document. */
interface Document {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security: unknown;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

const document: Document = JSON.parse(JSON.stringify(openApiDocument()));
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
);

function everyNode(node: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (node === null || typeof node !== "object") return;
  if (!Array.isArray(node)) visit({ ...node });
  for (const child of Object.values(node)) everyNode(child, visit);
}

function resolve(pointer: string): unknown {
  return pointer
    .slice(2)
    .split("/")
    .reduce<unknown>((node, part) => Object(node)[part.replaceAll("~1", "/").replaceAll("~0", "~")], document);
}

function responseOf(response: Response | { readonly $ref: string }): Response {
  if (!("$ref" in response)) return response;
  const found = document.components.responses[response.$ref.split("/").at(-1) ?? ""];
  if (found === undefined) throw new Error(`There is no ${response.$ref}`);
  return found;
}

describe("openapi.json", () => {
  it("is up to date with the table; if not, run `npm run gen`", () => {
    const committed = readFileSync(new URL("openapi.json", import.meta.url), "utf8");
    expect(committed).toBe(`${JSON.stringify(openApiDocument(), null, 2)}\n`);
  });

  it("has every endpoint of the table once, under its name", () => {
    expect(operations.map(([, { operationId }]) => operationId).sort()).toEqual(Object.keys(endpoints).sort());
  });

  it("has no broken references and no unused components", () => {
    const used = new Set<string>();
    everyNode(document, (node) => {
      if (typeof node.$ref === "string") used.add(node.$ref);
    });
    for (const pointer of used) expect(resolve(pointer), pointer).toBeTypeOf("object");
    for (const kind of ["schemas", "responses"] as const) {
      for (const name of Object.keys(document.components[kind])) expect(used).toContain(`#/components/${kind}/${name}`);
    }
  });

  it("requires its security scheme everywhere", () => {
    expect(document.security).toEqual([{ apiKey: [] }]);
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: "http", scheme: "bearer" });
  });

  it("describes every tag", () => {
    for (const tag of document.tags)
      expect([tag.name, tag.description]).toEqual([tag.name, expect.stringMatching(/\.$/)]);
  });

  it("explains every refusal code", () => {
    for (const code of Object.keys(refusalReasons)) expect(document.info.description).toContain(`\`${code}\``);
  });

  it("has no keywords of TypeBox that JSON Schema does not know", () => {
    everyNode(document, (node) => {
      expect(Object.keys(node).filter((key) => key.startsWith("~"))).toEqual([]);
    });
  });
});

describe.each(operations)("%s", (key, operation) => {
  it("declares exactly the parameters of its path", () => {
    const inPath = [...key.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const declared = operation.parameters.filter((one) => one.in === "path");
    expect(declared.map((one) => one.name)).toEqual(inPath);
    expect(declared.every((one) => one.required)).toBe(true);
    const names = operation.parameters.map((one) => `${one.in} ${one.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it("has a summary, description and tag, and a description of every parameter and response", () => {
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
    expect(operation.description).toMatch(/\.$/);
    expect(document.tags.map((tag) => tag.name)).toEqual(expect.arrayContaining([...operation.tags]));
    for (const part of [...operation.parameters, ...Object.values(operation.responses).map(responseOf)]) {
      expect(part).toHaveProperty("description");
    }
  });

  it("has the errors of every endpoint, with examples of the right status", () => {
    for (const status of ["401", "403", "429", "500"]) expect(operation.responses).toHaveProperty(status);
    for (const [status, response] of Object.entries(operation.responses)) {
      const example = responseOf(response).content["application/json"]?.example;
      if (example) expect(String(example.status)).toBe(status);
    }
  });
});

describe("the table", () => {
  const rows = Object.entries<Endpoint>(endpoints);

  it("has one row per method and path", () => {
    const keys = rows.map(([, { method, path }]) => `${method} ${path.replace(/\{\w+\}/g, "{}")}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each(rows)("names an existing field with the resource id for %s", (_, row) => {
    if (row.resource.kind === "key") return;
    const [part = "", name = ""] = row.resource.from.split(".");
    const schema = part === "params" ? row.params : part === "query" ? row.query : row.body;
    expect(Object.keys(schema?.properties ?? {})).toContain(name);
  });

  it.each(rows)("gives %s a verb that fits its method", (_, { method, verb }) => {
    // `resetSite` is a POST that deletes.
    const fitting = { GET: ["read"], POST: ["write", "delete"], PUT: ["write", "push"], DELETE: ["delete", "write"] };
    expect(fitting[method]).toContain(verb);
  });

  it.each(rows)("has a 202 for %s if it starts an operation, and only then", (_, row) => {
    // Bulk updates return a 200 whose body has the status 202, as clients expect.
    const started = row.path.endsWith("/bulk-update") ? "200" : "202";
    if (row.operation) expect(Object.keys(row.responses)).toEqual([started]);
    else if (row.tag !== "Operations") expect(Object.keys(row.responses)).not.toContain("202");
  });
});
