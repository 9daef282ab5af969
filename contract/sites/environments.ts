/** A site's environments, in their two forms. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { nullable, uuid } from "../schema.ts";

const domainProperties = {
  id: uuid("Id of the domain."),
  name: Type.String({ examples: ["demo.localhost"] }),
  type: Type.String({ examples: ["live"] }),
  site_id: nullable(uuid("The site that it belongs to.")),
};

const DomainBrief = Type.Object(domainProperties, { title: "DomainBrief" });
const Domain = Type.Object({ ...domainProperties, is_active: Type.Boolean() }, { title: "Domain" });

const identity = {
  id: uuid("Id of the environment."),
  name: Type.String({ examples: ["live"] }),
  display_name: Type.String({ examples: ["Live"] }),
  is_premium: Type.Boolean(),
  is_blocked: Type.Boolean({ description: "Whether an operation is working on it." }),
};

export const EnvironmentBrief = Type.Object(
  { ...identity, domains: Type.Array(DomainBrief), primaryDomain: DomainBrief },
  { title: "EnvironmentBrief" },
);

export const Environment = Type.Object(
  {
    ...identity,
    id_edge_cache: nullable(Type.String({ description: "Null: the installation has no separate edge cache." })),
    cdn_cache_id: nullable(Type.String({ description: "Null: the installation has no CDN." })),
    is_opt_out_from_automatic_php_update: nullable(Type.Boolean()),
    domains: Type.Array(Domain),
    primaryDomain: Domain,
    web_root: Type.String({
      description: "The full path of the site's files as SSH sees it.",
      examples: ["/www/demo_1/public"],
    }),
    image_optimization_type: nullable(Type.String({ description: "off, lossy or lossless; null without a CDN." })),
    is_additional_sftp_accounts_enabled: Type.Boolean(),
    wordpress_version: nullable(Type.String({ examples: ["6.9"] })),
    ssh_connection: Type.Object(
      {
        ssh_port: Type.String({
          description: "A string. `0` means that no SSH server serves this environment.",
          examples: ["0"],
        }),
        ssh_ip: Type.Object({ external_ip: Type.String({ examples: ["127.0.0.1"] }) }),
      },
      { title: "SshConnection" },
    ),
    container_info: Type.Object({
      id: uuid("Id of the container."),
      php_engine_version: Type.String({ examples: ["php8.3"] }),
    }),
  },
  { title: "Environment" },
);

export const listEnvironments = endpoint({
  method: "GET",
  path: "/sites/{site_id}/environments",
  tag: "Environments",
  summary: "List a site's environments",
  description: "With their domains, PHP version and addresses.",
  params: Type.Object({ site_id: uuid("Id of the site.") }),
  responses: {
    200: result(["site", "environments"], "The environments.", Type.Array(Environment)),
  },
  verb: "read",
  resource: { kind: "site", from: "params.site_id" },
});
