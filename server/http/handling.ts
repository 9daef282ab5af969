/** What handlers are, and the answer that many of them give. */
import type { EndpointName, Handlers } from "@sitewright/contract/endpoints.ts";
import { type OperationKind, operationKinds } from "@sitewright/contract/operations.ts";
import type { Context } from "@sitewright/server/app/context.ts";

/** The handlers of one noun. */
export type HandlersOf<Names extends EndpointName> = Pick<Handlers<Context>, Names>;

/** 202: the operation exists and goes on after the answer. */
export function accepted(kind: OperationKind, operationId: string) {
  return {
    status: 202,
    body: { operation_id: operationId, message: operationKinds[kind].message, status: 202 },
    headers: { location: `/v2/operations/${operationId}`, "retry-after": "1" },
  } as const;
}
