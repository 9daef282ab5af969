/** Reads a request into the input of a handler: query and body are merged and validated by the endpoint's row. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { type TObject, Type } from "typebox";
import { Malformed } from "./malformed.ts";
import { readQuery } from "./query.ts";
import { faultsOf } from "./validationMessages.ts";
import { faultsOfValue } from "./valueFaults.ts";

// Types are never coerced: "1" is not a number. Defaults are filled in.
const ajv = new Ajv2020({ allErrors: true, useDefaults: true, strict: true, allowUnionTypes: true });
addFormats.default(ajv, ["email", "date-time"]);

const nothing = Type.Object({});

export interface RawRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** The body as JSON. Undefined: none was sent. */
  readonly body: { readonly value: unknown } | undefined;
}

export interface CheckedInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface InputReader {
  /** Returns the path parameters, or null if an id is malformed: nothing has such an id. */
  params(raw: RawRequest["params"]): Readonly<Record<string, string>> | null;
  /** Reads and validates the rest of the request; `raw.params` must have passed `params`. Throws `Malformed`. */
  input(raw: RawRequest): CheckedInput;
}

/** Compiles a row's schemas once. */
export function makeInputReader(row: Endpoint): InputReader {
  const checkParams = ajv.compile(row.params ?? nothing);
  const checkQuery = ajv.compile(row.query ?? nothing);
  const checkBody = ajv.compile(row.body ?? nothing);
  return {
    params: (raw) => (checkParams({ ...raw }) ? raw : null),
    input(raw) {
      const path = raw.params;
      // A GET accepts its query as a body.
      const bodySchema = row.method === "GET" ? row.query : row.body;
      const isIgnored = row.body === undefined && isEmpty(raw.body?.value);
      const sent = isIgnored ? {} : pickKnown(bodySchema ?? nothing, objectOf(raw.body));
      const query = readQuery(row.query ?? nothing, raw.query);
      refuseValues(sent, query);
      refuseLongLists(bodySchema ?? nothing, sent);
      return row.method === "GET"
        ? { params: path, query: check(checkQuery, { ...sent, ...query }), body: {} }
        : { params: path, query: check(checkQuery, query), body: check(checkBody, sent) };
    },
  };
}

/** Whether the body is how some languages serialise an object without fields. */
function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function objectOf(body: RawRequest["body"]): Record<string, unknown> {
  if (body === undefined) return {};
  const { value } = body;
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Malformed([{ path: "", message: "must be an object" }]);
  }
  return { ...value };
}

function pickKnown(schema: TObject, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(schema.properties, name)));
}

function refuseValues(...parts: readonly unknown[]): void {
  for (const part of parts) {
    const faults = faultsOfValue(part);
    if (faults.length > 0) throw new Malformed(faults);
  }
}

/** Refuses lists with too many items before each of the items is validated. */
function refuseLongLists(schema: TObject, values: Readonly<Record<string, unknown>>): void {
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = values[name];
    if (!Array.isArray(value) || !("maxItems" in property) || value.length <= Number(property.maxItems)) continue;
    throw new Malformed([{ path: `/${name}`, message: `must have at most ${property.maxItems} items` }]);
  }
}

function check(validate: ValidateFunction, values: Record<string, unknown>): Record<string, unknown> {
  if (!validate(values)) throw new Malformed(faultsOf(validate.errors ?? []));
  return values;
}
