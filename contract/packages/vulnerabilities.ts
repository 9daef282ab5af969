/** Known vulnerabilities of a company's plugins and themes. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { count, dateTime, limit, nullable, offset, uuid } from "../schema.ts";
import { checks } from "./packages.ts";

const Vulnerability = Type.Object(
  {
    id: Type.String({ description: "Id in the feed.", examples: ["0b3f4c1a-6d1d-4f0f-8d9e-2c5f4f0a7a11"] }),
    title: Type.String({
      description: "Title in the feed.",
      examples: ["Shop <= 1.9 - Unauthenticated SQL Injection"],
    }),
    cve: nullable(Type.String({ description: "CVE number, or null.", examples: ["CVE-2026-12345"] })),
    score: nullable(Type.Number({ description: "CVSS score from 0 to 10, or null.", examples: [9.8] })),
    reference: nullable(Type.String({ description: "Link to more information, or null." })),
    type: Type.Enum(["plugin", "theme"], { description: "Kind of the vulnerable package." }),
    name: Type.String({ description: "Slug of the plugin or theme.", examples: ["shop"] }),
    affected: Type.String({ description: "Affected versions.", examples: ["any – 1.9"] }),
    patched_version: nullable(
      Type.String({ description: "The first fixed version, or null if there is none yet.", examples: ["2.0"] }),
    ),
    environments: Type.Array(
      Type.Object({
        id: uuid("Id of the environment."),
        site_id: uuid("Id of its site."),
        site_display_name: Type.String({ description: "Display name of the site.", examples: ["Demo"] }),
        display_name: Type.String({ description: "Display name of the environment.", examples: ["Live"] }),
        version: Type.String({ description: "The installed version.", examples: ["1.9"] }),
        update_version: nullable(
          Type.String({ description: "The version of the available update, or null.", examples: ["2.0"] }),
        ),
      }),
      { description: "The environments that have an affected version." },
    ),
  },
  { title: "Vulnerability" },
);

const AdvisoryFeed = Type.Object(
  {
    read_at: nullable(dateTime("When the feed was last read successfully, or null if never.")),
    records: count("Number of vulnerabilities in the feed.", 14_000),
    skipped: count("Number of records that could not be understood and were ignored.", 0),
    problem: nullable(Type.String({ description: "Why the last read failed, or null." })),
  },
  { title: "AdvisoryFeed", description: "State of the vulnerability feed." },
);

export const listVulnerabilities = endpoint({
  method: "GET",
  path: "/company/{id}/vulnerabilities",
  tag: "Plugins and themes",
  summary: "List a company's known vulnerabilities",
  description:
    "Vulnerabilities of the plugins and themes in the company's environments, worst first, according to the installation's vulnerability feed. `feed` is null if the installation has none (SITEWRIGHT_ADVISORIES).",
  params: Type.Object({ id: uuid("Id of the company.") }),
  query: Type.Object({
    limit: limit("Maximum number of vulnerabilities; values above 500 count as 500.", { default: 100 }),
    offset,
  }),
  responses: {
    200: result(
      ["company", "vulnerabilities"],
      "The vulnerabilities.",
      Type.Object({
        checks,
        items: Type.Array(Vulnerability),
        total: count("Number of vulnerabilities before paging."),
        feed: nullable(AdvisoryFeed),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});
