/**
 * An endpoint is one value. Types, validation, authorisation, serialisation and the OpenAPI document follow
 * from it: whatever a row can say, no handler has to remember.
 */
import type { Static, TObject, TSchema } from "typebox";
import type { OperationKind } from "./operations.ts";

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

/** Where in the body of a response the result of a call stands, with nothing beside it; `body`: it is the body. */
export type ResultPlace = "body" | `body.${string}`;

export interface ResponseSpec {
  readonly description: string;
  /** Where the result goes. Absent: the endpoint starts an operation, or its handler writes the whole answer. */
  readonly result?: ResultPlace;
  readonly body: TSchema;
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

/** The type of the only field there is; `never` if that isn't `Key`. */
type OnlyField<T, Key> = [keyof T] extends [Key] ? (Key extends keyof T ? T[Key] : never) : never;

type At<T, Path> = Path extends `${infer Key}.${infer Rest}` ? At<OnlyField<T, Key>, Rest> : OnlyField<T, Path>;

type ResultIn<Response> = Response extends { readonly result: infer Path; readonly body: infer Body extends TSchema }
  ? At<{ body: Static<Body> }, Path>
  : never;

/**
 * What a call returns whose answer follows from the row: the id of the operation it started, or what goes where the
 * response says. `never` if the row states neither, or a place that its body doesn't have.
 */
export type Result<E extends Endpoint> = E extends { readonly operation: OperationKind }
  ? string
  : ResultIn<E["responses"][keyof E["responses"]]>;

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
