/** Builds responses from the results of handlers, as the endpoint's row describes. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import type { Calls, ResponseHandlers } from "@sitewright/contract/endpoints.ts";
import { type OperationKind, operationKinds } from "@sitewright/contract/operationKinds.ts";
import type { Context } from "@sitewright/server/app/context.ts";
import { isKeptView } from "@sitewright/server/app/keptViews.ts";
import { isPagedList, type ListAnswer, listForm } from "./lists.ts";
import type { CheckedInput } from "./reading/input.ts";

/** The calls of some of the endpoints. */
export type SomeCalls = Partial<Calls<Context>>;

/** The response handlers of some of the endpoints. */
export type SomeResponseHandlers = Partial<ResponseHandlers<Context>>;

export interface AnyAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The serialised body in consecutive parts. Only for reads. */
  readonly parts?: readonly Buffer[];
  /** The body as text that is sent while it is read. Only for reads. */
  readonly text?: AsyncIterable<string>;
  /** Text that arrives while something happens, and may have no end, instead of the body. Only for reads. */
  readonly live?: AsyncIterable<string>;
  /** A list that is sent while it is read, instead of the body. Only for reads. */
  readonly list?: ListAnswer;
  /** The object that the body was derived from; the endpoint's body depends on nothing else. */
  readonly cacheKey?: object;
}

/**
 * Makes the function that turns a result into a response. `input` is that of the request. Throws if the row does not
 * describe exactly one response.
 */
export function makeAnswer({
  operation,
  dryRunOperation,
  responses,
  path,
}: Endpoint): (value: unknown, input?: Pick<CheckedInput, "body">) => AnyAnswer {
  const [[status, response] = [], ...others] = Object.entries(responses);
  if (response === undefined || others.length > 0) throw new Error(`${path} does not have exactly one response`);
  const { result } = response;
  if (operation !== undefined) {
    return (id, input) => {
      const kind = isDryRun(input?.body) ? (dryRunOperation ?? operation) : operation;
      return { ...accepted(kind, String(id)), status: Number(status) };
    };
  }
  if (result === undefined) throw new Error(`${path} does not say which fields contain its result`);
  const { fields, item } = result;
  if (item !== undefined) {
    const form = listForm(fields, item);
    return (list) => {
      if (!isPagedList(list)) throw new Error(`The result of ${path} is not a list in pages`);
      return { status: Number(status), body: null, list: { list, form } };
    };
  }
  return (value) => ({
    status: Number(status),
    body: wrap(value, fields),
    ...(isKeptView(value) && { cacheKey: value }),
  });
}

function isDryRun(body: unknown): boolean {
  return typeof body === "object" && body !== null && "dry_run" in body && body.dry_run === true;
}

/** The body and headers of a 202. */
function accepted(kind: OperationKind, operationId: string) {
  return {
    body: { operation_id: operationId, message: operationKinds[kind].message, status: 202 },
    headers: { location: `/v2/operations/${operationId}`, "retry-after": "1" },
  };
}

function wrap(result: unknown, fields: readonly string[]): unknown {
  return fields.reduceRight((inner, field) => ({ [field]: inner }), result);
}
