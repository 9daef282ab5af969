import { type Endpoint, isOwnResource } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { describe, expect, it } from "vitest";
import { type Authority, missing } from "./access.ts";
import { permissionsOf } from "./permissions.ts";

const site = "22222222-2222-4222-8222-222222222222";
const reads = ["see_limits", "see_rollouts", "see_users", "see_keys"];
const developer = [
  "create_sites",
  "change_sites",
  "see_limits",
  "see_rollouts",
  "manage_rollouts",
  "see_users",
  "see_keys",
  "manage_keys",
];
const admin = [
  "create_sites",
  "change_sites",
  "delete_sites",
  "change_limits",
  "see_limits",
  "see_rollouts",
  "manage_rollouts",
  "see_users",
  "manage_users",
  "see_keys",
  "manage_keys",
  "manage_labels",
];

it.each([
  ["owner", null, expect.arrayContaining([...admin, "manage_sign_in", "manage_owners"])],
  ["admin", null, admin],
  ["developer", null, developer],
  ["developer", [site], ["change_sites"]],
  ["billing", null, reads],
  ["viewer", null, reads],
  ["viewer", [site], []],
] as const)(
  "a person with the role %s and the sites %j may do exactly what the API lets them",
  (role, site_ids, expected) => {
    expect(permissionsOf({ role, site_ids })).toEqual(expected);
  },
);

const roles = ["owner", "admin", "developer", "billing", "viewer"] as const;
const people = roles.flatMap((role) => [null, [site]].map((site_ids) => ({ role, site_ids })));

/** Which of the people the API lets make the call, for a site that they see. */
const allowedPeople = (row: Endpoint) =>
  people.map(({ role, site_ids: userSites }) => {
    const caller: Authority = { kind: "session", role, scopes: null, labelledSites: [], userSites };
    return missing(row, caller, { companyId: "", siteId: site, isLive: true }) === null;
  });

describe("a call that the API refuses some people", () => {
  const permitted = people.map((person) => permissionsOf(person));
  const permissions = [...new Set(permitted.flat())].map((name) => permitted.map((names) => names.includes(name)));
  const refusing = Object.entries<Endpoint>(endpoints).filter(
    ([, row]) => !isOwnResource(row.resource) && allowedPeople(row).includes(false),
  );

  it.each(refusing)("is one that a permission tells them about: %s", (_, row) => {
    expect(permissions).toContainEqual(allowedPeople(row));
  });
});
