/** Known vulnerabilities of the plugins and themes that a company has. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, nullable, offset, uuid } from "../schema.ts";

const moment = (description: string) =>
  Type.String({ format: "date-time", description, examples: ["2026-11-23T08:00:00.000Z"] });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const Vulnerability = Type.Object(
  {
    id: Type.String({ description: "The id in the feed.", examples: ["0b3f4c1a-6d1d-4f0f-8d9e-2c5f4f0a7a11"] }),
    title: Type.String({ examples: ["Shop <= 1.9 - Unauthenticated SQL Injection"] }),
    cve: nullable(Type.String({ examples: ["CVE-2026-12345"] })),
    score: nullable(Type.Number({ description: "CVSS, from 0 to 10.", examples: [9.8] })),
    reference: nullable(Type.String({ description: "Link to more information." })),
    type: Type.Enum(["plugin", "theme"]),
    name: Type.String({ description: "Slug.", examples: ["shop"] }),
    affected: Type.String({ description: "Affected versions.", examples: ["any – 1.9"] }),
    patched_version: nullable(Type.String({ description: "The first fixed version, or null if there is none yet." })),
    environments: Type.Array(
      Type.Object({
        id: uuid("Id of the environment."),
        site_display_name: Type.String({ examples: ["Demo"] }),
        display_name: Type.String({ description: "Of the environment.", examples: ["Live"] }),
        version: Type.String({ description: "The installed version.", examples: ["1.9"] }),
        update_version: nullable(Type.String({ description: "The available update.", examples: ["2.0"] })),
      }),
    ),
  },
  { title: "Vulnerability" },
);

const AdvisoryFeed = Type.Object(
  {
    read_at: nullable(moment("When the feed was last read successfully, or null if never.")),
    records: count("Number of vulnerabilities in it."),
    skipped: count("Number of records that could not be understood and were ignored."),
    problem: nullable(Type.String({ description: "Why the last read failed, or null." })),
  },
  { title: "AdvisoryFeed" },
);

export const listVulnerabilities = endpoint({
  method: "GET",
  path: "/company/{id}/vulnerabilities",
  tag: "Plugins and themes",
  summary: "List the known vulnerabilities",
  description:
    "Vulnerabilities of plugins and themes installed in the company's environments, worst first, from the installation's feed. `total` is their number before paging.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({ limit: limit("Maximum number; values above 500 count as 500.", { default: 100 }), offset }),
  responses: {
    200: result(
      ["company", "vulnerabilities"],
      "The vulnerabilities.",
      Type.Object({
        items: Type.Array(Vulnerability),
        total: count("How many there are."),
        feed: nullable(AdvisoryFeed),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});
