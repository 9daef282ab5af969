/** What an environment may take: PHP's share, time, and room on the disk. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { nullable, uuid } from "../schema.ts";

export const threadCount = Type.Integer({
  minimum: 1,
  description:
    "Number of PHP threads: visitors' requests that PHP answers at once. `GET …/limits` has the allowed range.",
  examples: [2],
});
export const threadMemory = Type.Integer({
  minimum: 1,
  description: "Memory for each thread in MB. `GET …/limits` has the allowed range.",
  examples: [256],
});

export const PhpAllocation = Type.Object(
  { thread_count: threadCount, thread_memory: threadMemory },
  { title: "PhpAllocation" },
);

const whatHappens = "Running requests finish first; requests after the end of the operation get the new allocation.";

export const changeEnvironmentPhpAllocation = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/change-environment-php-allocation",
  tag: "Limits",
  summary: "Change an environment's PHP allocation",
  description: `${whatHappens} A clone starts with the allocation of its source.`,
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
  description: `All environments of the site get the same allocation. ${whatHappens} Environments added later start with the default, 2 threads and 256 MB; clones start with the allocation of their source.`,
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
  description: "Maximum size of files and database together.",
  examples: [10_000_000_000],
});

/** In force, whether the environment's own or the installation's. */
export const Limits = Type.Object(
  {
    thread_count: threadCount,
    thread_memory: threadMemory,
    request_seconds: requestSeconds,
    disk_bytes: nullable(Type.Integer({ description: "Maximum size of files and database. Null: no limit." })),
  },
  { title: "Limits" },
);

const bounds = (what: string) =>
  Type.Object({ minimum: Type.Integer(), maximum: Type.Integer() }, { description: `What ${what} may be.` });

export const diskUseFields = {
  disk_bytes: nullable(
    Type.Integer({
      description: "Size of files and database at the last measurement, or null if there has been none.",
    }),
  ),
  disk_measured_at: nullable(Type.Number({ description: "Milliseconds since 1970.", examples: [1795190400000] })),
  is_over_disk_quota: Type.Boolean({
    description: "Whether the quota is exceeded. Files can then be deleted but not grow.",
  }),
};

export const getLimits = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/limits",
  tag: "Limits",
  summary: "Get an environment's limits",
  description: "The limits in force, the range in which they can be changed, and the current disk usage.",
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
  { title: "LimitsChange", description: "Omitted fields keep their value; null restores the installation's default." },
);

export const changeLimits = endpoint({
  method: "PUT",
  path: "/sites/environments/{env_id}/limits",
  tag: "Limits",
  summary: "Change an environment's limits",
  description:
    "Request time and disk quota; PHP threads and memory have endpoints of their own. A quota below the current usage is accepted: files can then be deleted but not grow.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: LimitsChange,
  responses: { 202: { description: "The limits are being changed.", body: Accepted } },
  verb: "write",
  role: "admin",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "changeEnvironmentLimits",
});
