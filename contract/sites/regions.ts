/** Regions: labels of sites. All sites run on the machine of the installation, whatever their region. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

/** The region of a new site, in a request body. */
export const regionField = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "Region of the site: one of `GET /company/{id}/available-regions`.",
  examples: ["europe-west3"],
});

export const listRegions = endpoint({
  method: "GET",
  path: "/company/{id}/available-regions",
  tag: "Regions",
  summary: "List the regions for new sites",
  description:
    "Lists the allowed values of `region` for new sites: all regions, or those in SITEWRIGHT_REGIONS. A region is only a label: all sites run where this installation runs.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  responses: {
    200: result(
      ["company", "available_regions"],
      "The regions.",
      Type.Array(
        Type.Object(
          {
            name: Type.String({ description: "Display name of the region.", examples: ["Frankfurt, Germany"] }),
            region: Type.String({ description: "The value of `region` in `POST /sites`.", examples: ["europe-west3"] }),
          },
          { title: "AvailableRegion" },
        ),
      ),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "open" },
});
