import { expect, it } from "vitest";
import { permissionsOf } from "./permissions.ts";

const site = "22222222-2222-4222-8222-222222222222";
const all = ["create_sites", "change_sites", "see_users", "manage_users", "see_keys", "manage_keys", "manage_labels"];
const reads = ["see_users", "see_keys"];

it.each([
  ["owner", null, expect.arrayContaining([...all, "manage_sign_in", "manage_owners"])],
  ["admin", null, all],
  ["developer", null, all.filter((name) => name !== "manage_users" && name !== "manage_labels")],
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
