/** Limits of a company, which only the operator of the installation sets. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { nullable, uuid } from "../schema.ts";

const limit = (description: string, example: number) =>
  nullable(Type.Integer({ description: `${description} Null: no limit.`, examples: [example] }));
const count = (description: string, example: number) => Type.Integer({ description, examples: [example] });

const CompanyLimits = Type.Object(
  {
    sites: limit("Maximum number of sites.", 10),
    environments: limit("Maximum number of environments of all sites.", 30),
    domains: limit("Maximum number of domains, without the temporary ones that environments get by themselves.", 1_000),
    disk_bytes: limit(
      "Maximum size of all environments, backups and downloadable backups together, in bytes. Backups of deleted sites count, wherever they are stored.",
      50_000_000_000,
    ),
    thread_count: limit("Maximum number of PHP requests that run at the same time, in all environments together.", 8),
    thread_memory: limit("Maximum memory of each PHP thread in MB.", 512),
    api_keys: limit("Maximum number of usable API keys.", 100),
    mail_recipients_per_hour: limit("Maximum number of mail recipients per hour, of all environments together.", 500),
  },
  { title: "CompanyLimits" },
);

const CompanyUse = Type.Object(
  {
    sites: count("Number of sites.", 4),
    environments: count("Number of environments.", 9),
    domains: count("Number of domains, without the temporary ones.", 6),
    disk_bytes: count(
      "Size of all environments, when they were last measured, backups and downloadable backups, in bytes.",
      1_250_000_000,
    ),
    api_keys: count("Number of usable API keys.", 3),
  },
  { title: "CompanyUse" },
);

export const getCompanyLimits = endpoint({
  method: "GET",
  path: "/company/{id}/limits",
  tag: "Limits",
  summary: "Get a company's limits",
  description:
    "Returns the company's limits and how much of them it uses. Only the operator of the installation can change them. Environments have limits of their own within these; see `GET /sites/environments/{env_id}/limits`.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  responses: {
    200: result(
      ["company"],
      "The limits.",
      Type.Object({ id: uuid("Id of the company."), limits: CompanyLimits, use: CompanyUse }),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "closed" },
});
