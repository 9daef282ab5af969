/** Known vulnerabilities of the plugins and themes that a company has. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { limit, nullable, offset, uuid } from "../schema.ts";

const moment = (description: string) =>
  Type.String({ format: "date-time", description, examples: ["2026-11-23T08:00:00.000Z"] });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const Vulnerability = Type.Object(
  {
    id: Type.String({ description: "As the feed names it.", examples: ["0b3f4c1a-6d1d-4f0f-8d9e-2c5f4f0a7a11"] }),
    title: Type.String({ examples: ["Shop <= 1.9 - Unauthenticated SQL Injection"] }),
    cve: nullable(Type.String({ examples: ["CVE-2026-12345"] })),
    score: nullable(Type.Number({ description: "CVSS, from 0 to 10.", examples: [9.8] })),
    reference: nullable(Type.String({ description: "Where more is to be read." })),
    type: Type.Enum(["plugin", "theme"]),
    name: Type.String({ description: "Slug.", examples: ["shop"] }),
    affected: Type.String({ description: "The versions that have it.", examples: ["any – 1.9"] }),
    patched_version: nullable(Type.String({ description: "The version in which it is mended; null: in none yet." })),
    environments: Type.Array(
      Type.Object({
        id: uuid("Id of the environment."),
        site_display_name: Type.String({ examples: ["Demo"] }),
        display_name: Type.String({ description: "Of the environment.", examples: ["Live"] }),
        version: Type.String({ description: "That is installed there.", examples: ["1.9"] }),
        update_version: nullable(Type.String({ description: "To which it can be updated.", examples: ["2.0"] })),
      }),
    ),
  },
  { title: "Vulnerability" },
);

const AdvisoryFeed = Type.Object(
  {
    read_at: nullable(moment("When the feed that is in force was read. Null: none was yet.")),
    records: count("How many vulnerabilities it has."),
    skipped: count("How many of its records could not be understood, and were left out."),
    problem: nullable(Type.String({ description: "Why it could not be read the last time. Null: it could." })),
  },
  { title: "AdvisoryFeed" },
);

export const listVulnerabilities = endpoint({
  method: "GET",
  path: "/company/{id}/vulnerabilities",
  tag: "Plugins and themes",
  summary: "List the known vulnerabilities",
  description:
    "Of what the company's environments have, the worst first, by the feed that the installation reads. `total` counts them before paging.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({ limit: limit("How many at most; above 500 counts as 500.", { default: 100 }), offset }),
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
