import { isKeptView } from "@sitewright/server/app/keptViews.ts";
import { follow, list, screenshots } from "@sitewright/server/app/operations.ts";
import type { SomeCalls, SomeResponseHandlers } from "./handling.ts";

const statuses = { running: 202, succeeded: 200, failed: 500 } as const;

export const operationCalls = {
  listOperations: (context, { query }) => list(context, query),
  listOperationPictures: (context, { params, query }) => screenshots(context, params.operation_id, query.path ?? null),
} satisfies SomeCalls;

export const operationResponseHandlers = {
  getOperation: async (context, { params, query }) => {
    const view = await follow(context, params.operation_id, query.wait ?? 0);
    const { state, message, data } = view;
    const status = statuses[state];
    return {
      status,
      body: { status, message, data: state === "failed" ? { ...data, status } : data },
      ...(state === "running" && { headers: { "retry-after": "1" } }),
      ...(isKeptView(view) && { cacheKey: view }),
    };
  },
} satisfies SomeResponseHandlers;
