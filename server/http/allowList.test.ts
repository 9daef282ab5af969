/** Responses have only the fields that their schema names, and all fields that it requires. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { fastify } from "fastify";
import { describe, expect, it } from "vitest";
import { siteFields, useTestServer } from "./testing/server.ts";

const test = useTestServer();
/** An id that does not exist. An empty one would give the path of a list. */
const unknownId = "00000000-0000-4000-8000-000000000000";
const ajv = new Ajv2020({ allErrors: true, strict: false });
addFormats.default(ajv);

/** The schema without additional properties in any object. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== "object") return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return "properties" in copy ? { ...copy, additionalProperties: false } : copy;
}

function isText(schema: unknown): boolean {
  return Object(schema).type === "string";
}

describe("responses", () => {
  it("match the contract's schema exactly, for every endpoint", async () => {
    const { addKey, addSite, call, company } = test.current;
    const site = await addSite();
    const { body: accepted } = await call("POST", "/v2/sites", { body: siteFields(company.company_id) });
    const ids: Record<string, string> = {
      id: company.company_id,
      site_id: site,
      operation_id: accepted.operation_id,
      key_id: (await addKey({})).id,
    };
    for (const [name, row] of Object.entries<Endpoint>(endpoints)) {
      const place = row.path.replace(/\{(\w+)\}/g, (_, key) => ids[key] ?? unknownId);
      // Otherwise, a stream of events never ends.
      const path = `/v2${place.replace(/\/events$/, "$&?follow=false")}`;
      const body =
        name === "createSite" ? siteFields(company.company_id) : name === "createApiKey" ? { name: "x" } : undefined;
      const answer = await call(row.method, path, { body });
      const spec = Object.entries(row.responses).find(([status]) => status === String(answer.status));
      const schema = Object(closed(spec?.[1].body));
      const validate = ajv.compile({ ...schema });
      expect(validate(isText(schema) ? answer.text : answer.body), `${name}: ${JSON.stringify(validate.errors)}`).toBe(
        true,
      );
    }
  });

  it("lose fields that the schema does not name, and fail if a required one is missing", async () => {
    const server = fastify();
    // Text has no fields.
    const withFields = Object.entries<Endpoint>(endpoints).filter(
      ([, row]) => !isText(Object.values(row.responses)[0]?.body),
    );
    for (const [name, row] of withFields) {
      const schema = Object.values(row.responses)[0]?.body;
      server.get(`/${name}`, { schema: { response: { 200: schema } } }, async () => ({ secret: "leak" }));
    }
    for (const [name] of withFields) {
      const answer = await server.inject(`/${name}`);
      expect(answer.body).not.toContain("leak");
      expect(answer.statusCode).toBe(500);
    }
    await server.close();
  });
});
