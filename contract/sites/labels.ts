/** Labels, which group a company's sites, and limit what people and API keys can see. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { count, line, uuid } from "../schema.ts";

const labelName = line(50, "Name of the label. Unique within the company; case is ignored.", "Client A");

/** A label as sites show it. */
export const LabelBrief = Type.Object({
  id: uuid("Id of the label."),
  name: Type.String({ description: "Name of the label.", examples: ["Client A"] }),
});

export const siteLabels = Type.Array(LabelBrief, {
  description: "The labels of the site, by name.",
  examples: [[{ id: "54fb80af-576c-4fdc-ba4f-b596c83f15a1", name: "Client A" }]],
});

const Label = Type.Object(
  {
    id: uuid("Id of the label."),
    name: Type.String({ description: "Name of the label.", examples: ["Client A"] }),
    site_count: count("Number of sites with the label that the caller can see.", 12),
  },
  { title: "Label" },
);

const company = Type.Object({ id: uuid("Id of the company.") });
const labelOfCompany = Type.Object({ id: uuid("Id of the company."), label_id: uuid("Id of the label.") });
const ofCompany = { kind: "company", from: "params.id", underSiteScope: "closed" } as const;

export const listLabels = endpoint({
  method: "GET",
  path: "/company/{id}/labels",
  tag: "Labels",
  summary: "List a company's labels",
  description: "By name. A caller who is limited to some sites sees the labels of these sites.",
  params: company,
  responses: { 200: result(["labels"], "The labels.", Type.Array(Label)) },
  verb: "read",
  resource: { kind: "company", from: "params.id", underSiteScope: "filtered" },
});

export const createLabel = endpoint({
  method: "POST",
  path: "/company/{id}/labels",
  tag: "Labels",
  summary: "Create a label",
  description: "No site has it at first.",
  params: company,
  body: Type.Object({ name: labelName }, { title: "LabelCreate" }),
  responses: { 201: result(["label"], "The label has been created.", Label) },
  refusals: ["label_name_taken", "too_many_labels"],
  verb: "write",
  role: "admin",
  resource: ofCompany,
});

export const renameLabel = endpoint({
  method: "PUT",
  path: "/company/{id}/labels/{label_id}",
  tag: "Labels",
  summary: "Rename a label",
  description: "Sites, users and API keys keep it.",
  params: labelOfCompany,
  body: Type.Object({ name: labelName }, { title: "LabelRename" }),
  responses: { 200: result(["label"], "The label.", Label) },
  refusals: ["label_name_taken"],
  verb: "write",
  role: "admin",
  resource: ofCompany,
});

export const deleteLabel = endpoint({
  method: "DELETE",
  path: "/company/{id}/labels/{label_id}",
  tag: "Labels",
  summary: "Delete a label",
  description:
    "Sites lose it. Users and API keys that could see sites because of it no longer see them when this call returns.",
  params: labelOfCompany,
  responses: { 200: result(["label"], "The deleted label.", Label) },
  verb: "users",
  role: "admin",
  resource: ofCompany,
});

const siteIdsTo = (verb: string) =>
  Type.Optional(Type.Array(uuid("Id of a site."), { maxItems: 1_000, description: `Ids of sites ${verb}.` }));

export const assignLabel = endpoint({
  method: "PUT",
  path: "/company/{id}/labels/{label_id}/sites",
  tag: "Labels",
  summary: "Add a label to sites, and remove it from others",
  description:
    "All at once, or nothing. Sites that have the label already, or do not have it, stay as they are. In force when this call returns, also for users and API keys that are limited to the label.",
  params: labelOfCompany,
  body: Type.Object(
    { add: siteIdsTo("that get the label"), remove: siteIdsTo("that lose the label") },
    { title: "LabelAssignment", examples: [{ add: ["54fb80af-576c-4fdc-ba4f-b596c83f15a1"] }] },
  ),
  responses: { 200: result(["label"], "The label.", Label) },
  refusals: ["unknown_site"],
  verb: "users",
  role: "admin",
  resource: ofCompany,
});
