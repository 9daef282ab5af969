/** Environments of a site, in a brief and a long form. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { nullable, uuid } from "../schema.ts";

const domainProperties = {
  id: uuid("Id of the domain."),
  name: Type.String({ description: "The domain name.", examples: ["demo.localhost"] }),
  type: Type.String({ description: "Always `live`.", examples: ["live"] }),
  site_id: nullable(uuid("Id of the site that it belongs to.")),
};

const DomainBrief = Type.Object(domainProperties, { title: "DomainBrief" });
const Domain = Type.Object(
  { ...domainProperties, is_active: Type.Boolean({ description: "Whether the edge serves it.", examples: [true] }) },
  { title: "Domain" },
);

const identity = {
  id: uuid("Id of the environment."),
  name: Type.String({
    description: "Name of the environment: `live`, or the slug of its display name.",
    examples: ["live"],
  }),
  display_name: Type.String({ description: "Display name of the environment.", examples: ["Live"] }),
  is_premium: Type.Boolean({ description: "As set when it was created; it has no effect on this installation." }),
  is_blocked: Type.Boolean({ description: "Whether an operation is working on it." }),
};

export const EnvironmentBrief = Type.Object(
  { ...identity, domains: Type.Array(DomainBrief), primaryDomain: DomainBrief },
  { title: "EnvironmentBrief" },
);

export const Environment = Type.Object(
  {
    ...identity,
    address: Type.String({
      description: "Where visitors reach it: the URL of its primary domain.",
      examples: ["http://demo.localhost:8081"],
    }),
    id_edge_cache: nullable(Type.String({ description: "Always null: the installation has no separate edge cache." })),
    cdn_cache_id: nullable(Type.String({ description: "Always null: the installation has no CDN." })),
    is_opt_out_from_automatic_php_update: nullable(
      Type.Boolean({ description: "Whether it stays on its PHP version after that version's end of life." }),
    ),
    domains: Type.Array(Domain),
    primaryDomain: Domain,
    web_root: Type.String({
      description: "Absolute path of the site's files over SSH.",
      examples: ["/www/demo_1/public"],
    }),
    image_optimization_type: nullable(Type.String({ description: "Always null: the installation has no CDN." })),
    is_additional_sftp_accounts_enabled: Type.Boolean({ description: "Always false: there is no SFTP server." }),
    wordpress_version: nullable(
      Type.String({ description: "WordPress version, or null if there is no WordPress.", examples: ["6.9"] }),
    ),
    ssh_connection: Type.Object(
      {
        ssh_port: Type.String({
          description: "Port of the SSH server; `0` if there is none.",
          examples: ["0"],
        }),
        ssh_ip: Type.Object({ external_ip: Type.String({ description: "IP address.", examples: ["127.0.0.1"] }) }),
      },
      { title: "SshConnection" },
    ),
    container_info: Type.Object({
      id: uuid("Id of the container."),
      php_engine_version: Type.String({ description: "PHP version.", examples: ["php8.3"] }),
    }),
  },
  { title: "Environment" },
);

export const listEnvironments = endpoint({
  method: "GET",
  path: "/sites/{site_id}/environments",
  tag: "Environments",
  summary: "List a site's environments",
  description: "Returns the environments with their domains, addresses and PHP versions.",
  params: Type.Object({ site_id: uuid("Id of the site.") }),
  responses: {
    200: result(["site", "environments"], "The environments.", Type.Array(Environment)),
  },
  verb: "read",
  resource: { kind: "site", from: "params.site_id" },
});
