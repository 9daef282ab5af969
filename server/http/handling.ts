/** From what a call returned to the answer that the endpoint's row describes. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import type { Answerers, Calls } from "@sitewright/contract/endpoints.ts";
import { type OperationKind, operationKinds } from "@sitewright/contract/operationKinds.ts";
import type { Context } from "@sitewright/server/app/context.ts";

/** Which rule of `app` each endpoint calls, of some endpoints. */
export type SomeCalls = Partial<Calls<Context>>;

/** Endpoints that write their answer themselves, some of them. */
export type SomeAnswerers = Partial<Answerers<Context>>;

export interface AnyAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the body where it is written already: they follow one another. Only of what is read. */
  readonly parts?: readonly Buffer[];
  /** What the body is made of, and nothing else. */
  readonly basis?: object;
}

/** Makes the function that answers with what a call to this endpoint returned. Throws if the row doesn't say how. */
export function makeAnswer({ operation, responses, path }: Endpoint): (returned: unknown) => AnyAnswer {
  const [[status, response] = [], ...others] = Object.entries(responses);
  if (response === undefined || others.length > 0) throw new Error(`${path} has more than one response, or none`);
  const { result } = response;
  if (operation !== undefined) return (id) => ({ ...accepted(operation, String(id)), status: Number(status) });
  if (result === undefined) throw new Error(`${path} does not say where its result goes`);
  return (returned) => ({ status: Number(status), body: wrap(returned, result.fields) });
}

/** The operation exists and goes on after the answer. */
function accepted(kind: OperationKind, operationId: string) {
  return {
    body: { operation_id: operationId, message: operationKinds[kind].message, status: 202 },
    headers: { location: `/v2/operations/${operationId}`, "retry-after": "1" },
  };
}

function wrap(result: unknown, fields: readonly string[]): unknown {
  return fields.reduceRight((inner, field) => ({ [field]: inner }), result);
}
