/** Limits of environments: PHP threads, memory, request time and disk space. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { nullable, uuid } from "../schema.ts";

const threadCount = Type.Integer({
  minimum: 1,
  description:
    "Number of PHP threads: how many requests PHP handles at the same time. `GET …/limits` has the allowed range.",
  examples: [2],
});
const threadMemory = Type.Integer({
  minimum: 1,
  description: "Memory of each PHP thread in MB. `GET …/limits` has the allowed range.",
  examples: [256],
});

export const PhpAllocation = Type.Object(
  { thread_count: threadCount, thread_memory: threadMemory },
  { title: "PhpAllocation" },
);

const effect = "Running requests finish first. The new allocation applies to requests after the end of the operation.";

export const changeEnvironmentPhpAllocation = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/change-environment-php-allocation",
  tag: "Limits",
  summary: "Change an environment's PHP allocation",
  description: `Sets the number and the memory of the PHP threads. ${effect} Clones start with the allocation of their source.`,
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: PhpAllocation,
  responses: { 202: { description: "The allocation is being changed.", body: Accepted } },
  refusals: ["limit_out_of_bounds"],
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
  description: `Sets the same allocation for all environments of the site. ${effect} Environments added later start with the default, 2 threads and 256 MB; clones start with the allocation of their source.`,
  params: Type.Object({ site_id: uuid("Id of the site.") }),
  body: PhpAllocation,
  responses: { 202: { description: "The allocation is being changed.", body: Accepted } },
  refusals: ["limit_out_of_bounds"],
  verb: "write",
  resource: { kind: "site", from: "params.site_id" },
  changesLive: true,
  operation: "changeSitePhpAllocation",
});

const requestSeconds = Type.Integer({
  minimum: 1,
  description: "Time limit of a PHP request, in seconds. `GET …/limits` has the allowed range.",
  examples: [120],
});
/** WordPress needs more, but an empty environment may be kept empty. */
export const minDiskBytes = 1_000_000;
const diskBytes = Type.Integer({
  minimum: minDiskBytes,
  maximum: Number.MAX_SAFE_INTEGER,
  description:
    "Disk quota: maximum size of files, database, sessions and temporary files together, in bytes. Temporary files are removed after ten days.",
  examples: [10_000_000_000],
});

/** The limits in force: the environment's own ones, or else the installation's defaults. */
export const Limits = Type.Object(
  {
    thread_count: threadCount,
    thread_memory: threadMemory,
    request_seconds: requestSeconds,
    disk_bytes: nullable(
      Type.Integer({
        description:
          "Disk quota: maximum size of files, database, sessions and temporary files together, in bytes. Null: no limit.",
      }),
    ),
  },
  { title: "Limits" },
);

const bounds = (field: string, minimum: number, maximum: number) =>
  Type.Object(
    {
      minimum: Type.Integer({ description: "Lowest allowed value.", examples: [minimum] }),
      maximum: Type.Integer({ description: "Highest allowed value.", examples: [maximum] }),
    },
    { description: `Allowed range of \`${field}\`.` },
  );

export const diskUseFields = {
  disk_bytes: nullable(
    Type.Integer({
      description: "Size of files and database in bytes, or null if not measured yet.",
      examples: [104_857_600],
    }),
  ),
  disk_measured_at: nullable(
    Type.Number({
      description: "When the size was measured. Milliseconds since 1970, or null if not measured yet.",
      examples: [1795190400000],
    }),
  ),
  is_over_disk_quota: Type.Boolean({
    description: "Whether the disk quota is exceeded. Files can then be deleted but can't grow.",
  }),
};

export const getLimits = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/limits",
  tag: "Limits",
  summary: "Get an environment's limits",
  description: "Returns the limits in force, the ranges in which they can be changed, and the disk usage.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  responses: {
    200: result(
      ["environment"],
      "The limits.",
      Type.Object({
        id: uuid("Id of the environment."),
        limits: Limits,
        bounds: Type.Object({
          thread_count: bounds("thread_count", 1, 8),
          thread_memory: bounds("thread_memory", 64, 1_024),
          request_seconds: bounds("request_seconds", 1, 300),
          disk_bytes: Type.Object(
            {
              minimum: Type.Integer({ description: "Lowest allowed value.", examples: [minDiskBytes] }),
              maximum: nullable(
                Type.Integer({ description: "Highest allowed value; null: any.", examples: [50_000_000_000] }),
              ),
            },
            { description: "Allowed range of `disk_bytes`." },
          ),
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
    "Sets the time limit of PHP requests and the disk quota; PHP threads and memory have their own endpoints. A quota below the current usage is accepted: files can then be deleted but can't grow.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: LimitsChange,
  responses: { 202: { description: "The limits are being changed.", body: Accepted } },
  refusals: ["nothing_to_change", "limit_out_of_bounds"],
  verb: "write",
  role: "admin",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "changeEnvironmentLimits",
});
