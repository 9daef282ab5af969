/**
 * An endpoint is one value. Types, validation, authorisation, serialisation and the OpenAPI document follow
 * from it: whatever a row can say, no handler has to remember.
 */
import { type Static, type TObject, type TObjectOptions, type TSchema, Type } from "typebox";
import type { OperationKind } from "./operationKinds.ts";

export type Method = "GET" | "POST" | "PUT" | "DELETE";
export type Verb = "read" | "write" | "delete" | "push";
export type Role = "owner" | "admin" | "developer" | "billing";
export type SuccessStatus = 200 | 201 | 202;

/** Where in the request the id stands of what the call acts on. */
export type IdSource = `params.${string}` | `body.${string}` | `query.${string}`;

/**
 * What a key that is limited to some sites (`site:<id>`) may do with something of the whole company:
 * `open` concerns no site, `filtered` shows it its own sites only, `closed` is refused.
 */
export type UnderSiteScope = "open" | "filtered" | "closed";

/** What a call acts on, and so whose it must be. */
export type Resource =
  | { readonly kind: "company"; readonly from: IdSource; readonly underSiteScope: UnderSiteScope }
  | { readonly kind: "site"; readonly from: IdSource }
  | { readonly kind: "environment"; readonly from: IdSource }
  | { readonly kind: "operation"; readonly from: IdSource }
  | { readonly kind: "backup"; readonly from: IdSource }
  | { readonly kind: "deletedSite"; readonly from: IdSource }
  | { readonly kind: "domain"; readonly from: IdSource }
  /** The calling key itself. */
  | { readonly kind: "key" };

export interface ResponseSpec {
  readonly description: string;
  readonly body: TSchema;
  /** What the body holds alone, and in which fields, outermost first. */
  readonly result?: { readonly fields: readonly string[]; readonly schema: TSchema };
}

/**
 * A response that holds the result of a call and nothing else: in the field `sites` of `company` if `fields` are
 * `["company", "sites"]`, or as the body itself if there are none.
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

export interface Endpoint {
  readonly method: Method;
  /** Below `/v2`, parameters in braces. */
  readonly path: `/${string}`;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly params?: TObject;
  /** For a GET these names are read from a JSON body as well; the query wins. */
  readonly query?: TObject;
  readonly body?: TObject;
  /** What success looks like. Errors follow from the rest of the row; 500 only where its body differs. */
  readonly responses: { readonly [S in SuccessStatus | 500]?: ResponseSpec };
  /** Which scope a narrowed key needs. */
  readonly verb: Verb;
  readonly resource: Resource;
  /** The least role that may call it; by default `billing` for reads and `developer` for anything else. */
  readonly role?: Role;
  /**
   * Whether a live environment is changed, which a key with the scope `non-live` must not do. Of a row that acts on an
   * environment: whether that one is changed, which matters where it is the live one.
   */
  readonly changesLive?: boolean;
  /** Which budget of requests it is counted against. */
  readonly bucket?: "creations" | "operations";
  /** The kind of operation that it starts, with a 202. */
  readonly operation?: OperationKind;
  readonly deprecated?: boolean;
}

/** States a row and keeps its exact type. */
export function endpoint<const E extends Endpoint>(row: E): E {
  return row;
}

type Part<S> = S extends TSchema ? Static<S> : Readonly<Record<never, never>>;

/** What a handler is given: checked against the row's schemas, defaults filled in. */
export interface Input<E extends Endpoint> {
  readonly params: Part<E["params"]>;
  readonly query: Part<E["query"]>;
  readonly body: Part<E["body"]>;
}

/**
 * What a call returns whose answer follows from the row: the id of the operation it started, or the result that the
 * response holds. `never` if the row states neither.
 */
export type Result<E extends Endpoint> = E extends { readonly operation: OperationKind }
  ? string
  : HeldBy<E["responses"][keyof E["responses"]]>;

type HeldBy<R> = R extends { readonly result: { readonly schema: infer S extends TSchema } } ? Static<S> : never;

/** What a handler may answer. */
export type Answer<E extends Endpoint> = {
  [S in keyof E["responses"] & number]: E["responses"][S] extends ResponseSpec
    ? {
        readonly status: S;
        readonly body: Static<E["responses"][S]["body"]>;
        readonly headers?: Readonly<Record<string, string>>;
        /** The body as it is sent, in parts that follow one another, where writing it out takes long: `body` says the same. */
        readonly parts?: readonly Buffer[];
        /** What the body was made of. An answer of the same object has the same body: it is not written out again. */
        readonly basis?: object;
      }
    : never;
}[keyof E["responses"] & number];
