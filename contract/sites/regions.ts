/** The regions of an installation, as its operator names them. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

/** The region of a new site, in a request body. */
export const regionField = Type.String({
  minLength: 1,
  maxLength: 100,
  description:
    "Region of the site: one of `GET /company/{id}/available-regions`. Names of a cloud's regions, such as `europe-west3`, mean the default region unless the installation has a region of that name.",
  examples: ["this-machine"],
});

/** The region of a site, in a response. */
export const siteRegion = Type.String({ description: "Region that the site is in.", examples: ["this-machine"] });

export const listRegions = endpoint({
  method: "GET",
  path: "/company/{id}/available-regions",
  tag: "Regions",
  summary: "List the regions for new sites",
  description:
    "Lists the regions in which sites can be created, as the operator has named them (`SITEWRIGHT_REGIONS`). The first one is the default.",
  params: Type.Object({ id: uuid("Id of the company.") }),
  responses: {
    200: result(
      ["company", "available_regions"],
      "The regions.",
      Type.Array(
        Type.Object(
          {
            name: Type.String({ description: "Display name of the region.", examples: ["This machine"] }),
            region: Type.String({ description: "The value of `region` in `POST /sites`.", examples: ["this-machine"] }),
          },
          { title: "AvailableRegion" },
        ),
      ),
    ),
  },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "open" },
});
