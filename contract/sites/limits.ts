/** What an environment may take: PHP's share, time, and room on the disk. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { nullable, uuid } from "../schema.ts";

export const threadCount = Type.Integer({
  minimum: 1,
  description: "How many visitors' requests PHP answers at once. `GET …/limits` says how many it may be.",
  examples: [2],
});
export const threadMemory = Type.Integer({
  minimum: 1,
  description: "MB that PHP may use for each of them. `GET …/limits` says how many it may be.",
  examples: [256],
});

export const PhpAllocation = Type.Object(
  { thread_count: threadCount, thread_memory: threadMemory },
  { title: "PhpAllocation" },
);

const whatHappens =
  "PHP processes that are at work finish what they do; what is asked for from the end of the operation on is answered with the new allocation.";

export const changeEnvironmentPhpAllocation = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/change-environment-php-allocation",
  tag: "Limits",
  summary: "Change the PHP allocation of an environment",
  description: `${whatHappens} A clone begins with the allocation of what it was cloned from.`,
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: PhpAllocation,
  responses: { 202: { description: "The allocation is being changed.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "changeEnvironmentPhpAllocation",
});

export const changeSitePhpAllocation = endpoint({
  method: "POST",
  path: "/sites/{site_id}/change-site-php-allocation",
  tag: "Limits",
  summary: "Change the PHP allocation of all environments of a site",
  description: `Every environment that the site has gets the same allocation. ${whatHappens} Environments that are added later begin with the usual one, 2 and 256, and clones with that of what they were cloned from.`,
  params: Type.Object({ site_id: uuid("Id of the site.") }),
  body: PhpAllocation,
  responses: { 202: { description: "The allocation is being changed.", body: Accepted } },
  verb: "write",
  resource: { kind: "site", from: "params.site_id" },
  changesLive: true,
  operation: "changeSitePhpAllocation",
});

const requestSeconds = Type.Integer({
  minimum: 1,
  description: "How long PHP may take for one request.",
  examples: [30],
});
const diskBytes = Type.Integer({
  minimum: 1_000_000,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "How much room files and database may take together.",
  examples: [10_000_000_000],
});

/** In force, whether the environment's own or the installation's. */
export const Limits = Type.Object(
  {
    thread_count: threadCount,
    thread_memory: threadMemory,
    request_seconds: requestSeconds,
    disk_bytes: nullable(Type.Integer({ description: "How much room it may take. Null: no limit." })),
  },
  { title: "Limits" },
);

const bounds = (what: string) =>
  Type.Object({ minimum: Type.Integer(), maximum: Type.Integer() }, { description: `What ${what} may be.` });

export const diskUseFields = {
  disk_bytes: nullable(
    Type.Integer({ description: "What files and database took when they were last measured. Null: never yet." }),
  ),
  disk_measured_at: nullable(Type.Number({ description: "Milliseconds since 1970.", examples: [1795190400000] })),
  is_over_disk_quota: Type.Boolean({
    description: "Whether it was more than it may be. Nothing can grow then, and everything can be removed.",
  }),
};

export const getLimits = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/limits",
  tag: "Limits",
  summary: "Get the limits of an environment",
  description: "What the environment may take, within which bounds that can be changed, and what room it takes now.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  responses: {
    200: result(
      ["environment"],
      "The limits.",
      Type.Object({
        id: uuid("Id of the environment."),
        limits: Limits,
        bounds: Type.Object({
          thread_count: bounds("`thread_count`"),
          thread_memory: bounds("`thread_memory`"),
          request_seconds: bounds("`request_seconds`"),
        }),
        use: Type.Object(diskUseFields),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const LimitsChange = Type.Object(
  {
    request_seconds: Type.Optional(nullable(requestSeconds)),
    disk_bytes: Type.Optional(nullable(diskBytes)),
  },
  { title: "LimitsChange", description: "What is left out stays; null is what the installation has for all." },
);

export const changeLimits = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/limits",
  tag: "Limits",
  summary: "Change the limits of an environment",
  description:
    "Time and room on the disk; PHP's threads and memory have endpoints of their own. A quota below what the environment takes is accepted: nothing can grow then until something was removed.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: LimitsChange,
  responses: { 202: { description: "The limits are being changed.", body: Accepted } },
  verb: "write",
  role: "admin",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "changeEnvironmentLimits",
});
