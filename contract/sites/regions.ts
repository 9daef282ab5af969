/** Regions: labels of sites. All sites run on the machine of the installation, whatever their region. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { uuid } from "../schema.ts";

interface Region {
  readonly id: string;
  readonly name: string;
}

export const regions = [
  { id: "asia-east1", name: "Changhua County, Taiwan" },
  { id: "asia-east2", name: "Hong Kong" },
  { id: "asia-northeast1", name: "Tokyo, Japan" },
  { id: "asia-northeast2", name: "Osaka, Japan" },
  { id: "asia-northeast3", name: "Seoul, South Korea" },
  { id: "asia-south1", name: "Mumbai, India" },
  { id: "asia-south2", name: "Delhi, India" },
  { id: "asia-southeast1", name: "Jurong West, Singapore" },
  { id: "asia-southeast2", name: "Jakarta, Indonesia" },
  { id: "australia-southeast1", name: "Sydney, Australia" },
  { id: "australia-southeast2", name: "Melbourne, Australia" },
  { id: "europe-central2", name: "Warsaw, Poland" },
  { id: "europe-north1", name: "Hamina, Finland" },
  { id: "europe-southwest1", name: "Madrid, Spain" },
  { id: "europe-west1", name: "St. Ghislain, Belgium" },
  { id: "europe-west2", name: "London, United Kingdom" },
  { id: "europe-west3", name: "Frankfurt, Germany" },
  { id: "europe-west4", name: "Eemshaven, Netherlands" },
  { id: "europe-west6", name: "Zurich, Switzerland" },
  { id: "europe-west8", name: "Milan, Italy" },
  { id: "europe-west9", name: "Paris, France" },
  { id: "me-west1", name: "Tel Aviv, Israel" },
  { id: "northamerica-northeast1", name: "Montreal, Canada" },
  { id: "northamerica-northeast2", name: "Toronto, Canada" },
  { id: "southamerica-east1", name: "São Paulo, Brazil" },
  { id: "southamerica-west1", name: "Santiago, Chile" },
  { id: "us-central1", name: "Council Bluffs, Iowa, USA" },
  { id: "us-east1", name: "Moncks Corner, South Carolina, USA" },
  { id: "us-east4", name: "Ashburn, Virginia, USA" },
  { id: "us-east5", name: "Columbus, Ohio, USA" },
  { id: "us-south1", name: "Dallas, Texas, USA" },
  { id: "us-west1", name: "The Dalles, Oregon, USA" },
  { id: "us-west2", name: "Los Angeles, California, USA" },
  { id: "us-west3", name: "Salt Lake City, Utah, USA" },
  { id: "us-west4", name: "Las Vegas, Nevada, USA" },
] as const satisfies readonly Region[];

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
    "Lists the allowed values of `region` for new sites. A region is only a label: all sites run where this installation runs.",
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
