import * as rollouts from "@sitewright/server/app/packages/rollouts.ts";
import type { HandlersOf } from "../handling.ts";

export const rolloutHandlers: HandlersOf<"createRollout" | "listRollouts" | "getRollout" | "cancelRollout"> = {
  createRollout: async (context, { body }) => ({
    status: 201,
    body: { rollout: await rollouts.create(context, body) },
  }),
  listRollouts: async (context, { query }) => ({
    status: 200,
    body: { company: { rollouts: await rollouts.list(context, query) } },
  }),
  getRollout: async (context, { params }) => ({
    status: 200,
    body: { rollout: await rollouts.get(context, params.rollout_id) },
  }),
  cancelRollout: async (context, { params }) => ({
    status: 200,
    body: { rollout: await rollouts.cancel(context, params.rollout_id) },
  }),
};
