/**
 * An endpoint is one value, a row. Types, validation, authorisation, serialisation and the OpenAPI document are
 * derived from it, so handlers do not repeat them.
 */
import { type Static, type TObject, type TObjectOptions, type TSchema, Type } from "typebox";
import type { PagedList } from "./lists.ts";
import type { OperationKind } from "./operationKinds.ts";
import type { RefusalCode } from "./refusals.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";
export type Verb = "read" | "write" | "delete" | "push" | "keys" | "users";
export type Role = "owner" | "admin" | "developer" | "billing" | "viewer";
export type SuccessStatus = 200 | 201 | 202;

/** Where the request has the id of the resource. */
export type IdSource = `params.${string}` | `body.${string}` | `query.${string}`;

/**
 * What a key restricted to some sites (`site:<id>`) may do with a company-wide resource. `open`: everything, because it
 * concerns no site. `filtered`: see its own sites only. `closed`: nothing.
 */
type UnderSiteScope = "open" | "filtered" | "closed";

/** The resource that a call acts on. It must belong to the caller's company. */
export type Resource =
  | { readonly kind: "company"; readonly from: IdSource; readonly underSiteScope: UnderSiteScope }
  | { readonly kind: "site"; readonly from: IdSource }
  | { readonly kind: "environment"; readonly from: IdSource }
  | { readonly kind: "operation"; readonly from: IdSource }
  | { readonly kind: "backup"; readonly from: IdSource }
  | { readonly kind: "deletedSite"; readonly from: IdSource }
  | { readonly kind: "domain"; readonly from: IdSource }
  /** The calling key itself. */
  | { readonly kind: "key" }
  /** The session of a person who has signed in, or another one of the same person. API keys are refused. */
  | { readonly kind: "session" }
  /** Nothing of a company: the call needs no key. */
  | { readonly kind: "anyone" };

/** Whether the call acts on nothing that the request names, and that could be another company's. */
export function isOwnResource(
  resource: Resource,
): resource is Extract<Resource, { readonly kind: "key" | "session" | "anyone" }> {
  return resource.kind === "key" || resource.kind === "session" || resource.kind === "anyone";
}

export interface ResponseSpec {
  readonly description: string;
  /** Decides which fields are sent. */
  readonly body: TSchema;
  /** For a body that is text and not JSON: an example for each media type. */
  readonly mediaTypes?: Readonly<Record<string, string>>;
  /** The documented form of the body, if it is more precise. */
  readonly documented?: TSchema;
  /** The result, if the body has nothing else, and the fields that it is nested in, outermost first. */
  readonly result?: ResultSpec;
}

export interface ResultSpec {
  readonly fields: readonly string[];
  readonly schema: TSchema;
  /** If the result is a list that is sent while it is read: the schema of its items. See `pagedResult`. */
  readonly item?: TSchema;
}

/**
 * A response whose body is only the result of a call, nested in `fields`: `["company", "sites"]` gives
 * `{"company": {"sites": …}}`. Without fields, the result is the body.
 */
export function result<S extends TSchema>(
  fields: readonly string[],
  description: string,
  schema: S,
  bodyOptions: TObjectOptions = {},
) {
  const body = fields.reduceRight<TSchema>(
    (inner, field, depth) => Type.Object({ [field]: inner }, depth === 0 ? bodyOptions : {}),
    schema,
  );
  return { description, body, result: { fields, schema } };
}

/** Like `result` of an array, for a list that is sent while it is read. `item` is the schema of its items. */
export function pagedResult<S extends TSchema>(fields: readonly string[], description: string, item: S) {
  const listed = result(fields, description, Type.Array(item));
  return { ...listed, result: { ...listed.result, item } };
}

export interface Endpoint {
  readonly method: Method;
  /** Relative to `/v2`, with parameters in braces. */
  readonly path: `/${string}`;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly params?: TObject;
  /** A GET also accepts these fields in a JSON body; the query takes precedence. */
  readonly query?: TObject;
  readonly body?: TObject;
  /** Responses on success. Errors follow from the rest of the row; a 500 is listed only if its body differs. */
  readonly responses: { readonly [S in SuccessStatus | 500]?: ResponseSpec };
  /** Codes with which a valid request can be refused, besides the ones of every such call (`refusalsOf`). */
  readonly refusals?: readonly RefusalCode[];
  /** The scope that a restricted key needs. */
  readonly verb: Verb;
  readonly resource: Resource;
  /** The lowest role that may call it. Default: `viewer` for reads, `developer` for everything else. */
  readonly role?: Role;
  /**
   * Whether the call changes a live environment, which keys with the scope `non-live` must not do. If the resource is
   * an environment: whether the call changes it.
   */
  readonly changesLive?: boolean;
  /** The rate limit that applies. Default: the one for all other requests. */
  readonly bucket?: "creations" | "operations";
  /** The kind of operation that it starts; the response is then a 202. */
  readonly operation?: OperationKind;
  /** The kind that it starts instead if the body has `dry_run: true`. */
  readonly dryRunOperation?: OperationKind;
  /** Whether it does not exist for some callers, who get a 404. */
  readonly isHidden?: boolean;
  readonly deprecated?: boolean;
}

/** Returns the row with its exact type. */
export function endpoint<const E extends Endpoint>(row: E): E {
  return row;
}

/** The codes of all refusals that a call can get. */
export function refusalsOf({ method, operation, resource, refusals = [] }: Endpoint): readonly RefusalCode[] {
  return [
    ...refusals,
    ...(method === "GET" || resource.kind === "anyone"
      ? []
      : (["idempotency_key_reused", "idempotency_key_malformed"] as const)),
    ...(operation === undefined ? [] : (["when_busy_malformed"] as const)),
  ];
}

type Part<S> = S extends TSchema ? Static<S> : Readonly<Record<never, never>>;

/** The input of a handler: validated by the row's schemas, with defaults filled in. */
export interface Input<E extends Endpoint> {
  readonly params: Part<E["params"]>;
  readonly query: Part<E["query"]>;
  readonly body: Part<E["body"]>;
}

/**
 * What a handler returns if the response follows from the row: the id of the started operation, or the result in the
 * body, which may be a list in pages. `never` if the row has none of them.
 */
export type Result<E extends Endpoint> = E extends { readonly operation: OperationKind }
  ? string
  : ResultIn<E["responses"][keyof E["responses"]]>;

type ResultIn<R> = R extends { readonly result: { readonly item: infer I extends TSchema } }
  ? PagedList<Static<I>>
  : R extends { readonly result: { readonly schema: infer S extends TSchema } }
    ? Static<S>
    : never;

/** A whole response, as a handler builds it. */
export type Answer<E extends Endpoint> = {
  [S in keyof E["responses"] & number]: E["responses"][S] extends ResponseSpec
    ? {
        readonly status: S;
        readonly body: Static<E["responses"][S]["body"]>;
        readonly headers?: Readonly<Record<string, string>>;
        /** The serialised body in consecutive parts, for bodies that are expensive to serialise. Equal to `body`. */
        readonly parts?: readonly Buffer[];
        /** The body as text that is sent while it is read, instead of `body`. The headers have its media type. */
        readonly text?: AsyncIterable<string>;
        /** Text that arrives while something happens, instead of `body`. The headers have its media type. */
        readonly live?: AsyncIterable<string>;
        /** The object that the body was derived from. The body is serialised once for each such object. */
        readonly cacheKey?: object;
      }
    : never;
}[keyof E["responses"] & number];
