/**
 * All regions: labels of sites. Apart from the contract of the endpoint, because the settings need them and every process reads
 * the settings first: it should not have to load TypeBox.
 */

export interface Region {
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
