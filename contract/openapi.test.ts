import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { type Endpoint, isOwnResource, refusalsOf } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { openApiDocument } from "./openapi.ts";
import { refusalReasons } from "./refusals.ts";

interface Example {
  readonly value: unknown;
}

interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, Example | Reference>>;
}

type Content = Readonly<Record<"application/json", Media>>;

interface Reference {
  readonly $ref: string;
}

interface Response {
  readonly description: string;
  /** Absent: a 304 has none. */
  readonly content?: Content;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: Content };
  readonly security?: readonly unknown[];
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

/** The tested parts of the document. */
interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security: unknown;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly examples: Readonly<Record<string, Example>>;
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

/** The part itself, or the component that it refers to. */
function found<T extends object>(part: T | Reference, components: Readonly<Record<string, T>>): T {
  if (!("$ref" in part)) return part;
  const component = components[part.$ref.split("/").at(-1) ?? ""];
  if (component === undefined) throw new Error(`There is no ${part.$ref}`);
  return component;
}

const responseOf = (response: Response | Reference) => found(response, document.components.responses);
const parametersOf = (operation: Operation) =>
  operation.parameters.map((each) => found(each, document.components.parameters));

function examplesOf({ example, examples = {} }: Media): readonly unknown[] {
  const named = Object.values(examples).map((each) => found(each, document.components.examples).value);
  return example === undefined ? named : [example, ...named];
}

const ajv = new Ajv2020({ strict: false, validateSchema: false });
addFormats.default(ajv, ["email", "date-time"]);
ajv.addSchema(document, "openapi");

/** The schema with absolute references. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
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
    for (const kind of ["schemas", "responses", "parameters", "examples"] as const) {
      for (const name of Object.keys(document.components[kind])) expect(used).toContain(`#/components/${kind}/${name}`);
    }
  });

  it("requires a key or a session, except for people who have neither yet", () => {
    expect(document.security).toEqual([{ apiKey: [] }, { session: [] }]);
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: "http", scheme: "bearer" });
    expect(document.components.securitySchemes.session).toMatchObject({ in: "cookie", name: "sitewright" });
    const open = Object.entries<Endpoint>(endpoints)
      .filter(([, { resource }]) => resource.kind === "anyone")
      .map(([name]) => name);
    expect(open).toEqual([
      "checkInvitation",
      "acceptInvitation",
      "signIn",
      "getSignInOptions",
      "beginPasskeySignIn",
      "signInWithPasskey",
      "beginProviderSignIn",
      "readProviderAnswer",
      "signInWithProvider",
      "requestPasswordReset",
      "checkPasswordReset",
      "completePasswordReset",
    ]);
    for (const [, { operationId, security }] of operations) {
      expect([operationId, security?.length === 0]).toEqual([operationId, open.includes(operationId)]);
    }
  });

  it("describes every tag", () => {
    for (const tag of document.tags)
      expect([tag.name, tag.description]).toEqual([tag.name, expect.stringMatching(/\.$/)]);
  });

  it("names no schema like a global of JavaScript, which it would hide in generated clients", () => {
    expect(Object.keys(document.components.schemas).filter((name) => name in globalThis)).toEqual([]);
  });

  it("has an absolute server address", () => {
    expect(document.servers.map(({ url }) => url)).toEqual(["http://127.0.0.1:8080/v2"]);
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
    const parameters = parametersOf(operation);
    const declared = parameters.filter((one) => one.in === "path");
    expect(declared.map((one) => one.name)).toEqual(inPath);
    expect(declared.every((one) => one.required)).toBe(true);
    const names = parameters.map((one) => `${one.in} ${one.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it("has a summary, description and tag, and a description of every parameter and response", () => {
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
    expect(operation.description).toMatch(/\.$/);
    expect(document.tags.map((tag) => tag.name)).toEqual(expect.arrayContaining([...operation.tags]));
    for (const part of [...parametersOf(operation), ...Object.values(operation.responses).map(responseOf)]) {
      expect(part).toHaveProperty("description");
    }
  });

  it("has the errors of every endpoint", () => {
    const needsNoKey = operation.security?.length === 0;
    for (const status of ["400", ...(needsNoKey ? [] : ["401"]), "403", "413", "415", "429", "500"]) {
      expect(operation.responses).toHaveProperty(status);
    }
  });

  it("has a valid example of every body", () => {
    const bodies = [operation.requestBody, ...Object.values(operation.responses).map(responseOf)];
    for (const { content } of bodies.filter((body) => body !== undefined)) {
      for (const media of Object.values(content ?? {})) {
        expect(examplesOf(media)).not.toEqual([]);
        const validate = ajv.compile(absolute(media.schema));
        for (const example of examplesOf(media)) {
          expect(validate(example), `${JSON.stringify(example)}: ${ajv.errorsText(validate.errors)}`).toBe(true);
        }
      }
    }
  });

  it("explains its refusal codes", () => {
    const row = Object.entries<Endpoint>(endpoints).find(([name]) => name === operation.operationId)?.[1];
    const texts = [...parametersOf(operation), responseOf(operation.responses[400] ?? { $ref: "" })];
    const explained = texts.map(({ description }) => description).join();
    for (const code of row ? refusalsOf(row) : []) expect(explained).toContain(`\`${code}\``);
  });
});

describe("the table", () => {
  const rows = Object.entries<Endpoint>(endpoints);

  it("uses every refusal code, and each once in a row", () => {
    const used = rows.map(([, row]) => refusalsOf(row));
    expect([...new Set(used.flat())].sort()).toEqual(Object.keys(refusalReasons).sort());
    for (const codes of used) expect(new Set(codes).size).toBe(codes.length);
  });

  it("has one row per method and path", () => {
    const keys = rows.map(([, { method, path }]) => `${method} ${path.replace(/\{\w+\}/g, "{}")}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each(rows)("names an existing field with the resource id for %s", (_, row) => {
    if (isOwnResource(row.resource)) return;
    const [part = "", name = ""] = row.resource.from.split(".");
    const schema = part === "params" ? row.params : part === "query" ? row.query : row.body;
    expect(Object.keys(schema?.properties ?? {})).toContain(name);
  });

  it.each(rows)("gives %s a verb that fits its method", (_, { method, verb }) => {
    if (verb === "keys" || verb === "users") return expect(method).not.toBe("GET");
    // `resetSite` is a POST that deletes.
    const fitting = { GET: ["read"], POST: ["write", "delete"], PUT: ["write", "push"], DELETE: ["delete", "write"] };
    expect(fitting[method]).toContain(verb);
  });

  it.each(rows)("has a 202 for %s if it starts an operation, and only then", (_, row) => {
    // Bulk updates return a 200 whose body has the status 202, as clients expect.
    const started = row.path.endsWith("/bulk-update") ? "200" : "202";
    if (row.operation) expect(Object.keys(row.responses)).toEqual([started]);
    // As clients expect, too.
    else if (/\/analytics\/\w+$/.test(row.path)) expect(Object.keys(row.responses)).toEqual(["202"]);
    else if (row.tag !== "Operations") expect(Object.keys(row.responses)).not.toContain("202");
  });
});
