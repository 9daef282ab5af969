import { randomUUID } from "node:crypto";
import { initialsImage } from "@sitewright/server/app/company/users.ts";
import { insertUser } from "@sitewright/server/store/company/users.ts";
import { describe, expect, it } from "vitest";
import { peopleOf } from "../testing/people.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);

interface Listed {
  readonly user: { readonly email: string; readonly role: string };
  readonly sites: readonly { readonly display_name: string }[];
  readonly last_signed_in_at: string | null;
  readonly locked_because: string | null;
}

const list = (companyId: string, options = {}) => test.current.call("GET", `/v2/company/${companyId}/users`, options);

describe("GET /company/{id}/users", () => {
  it("lists the company's users, oldest first, and no others", async () => {
    const { company_id, admin_email } = test.current.company;
    const id = randomUUID();
    const ada = { email: "ada@example.com", fullName: "Ada Lovelace", firstName: "Ada", role: "billing" } as const;
    await test.current.database
      .transaction()
      .execute((open) => insertUser(open, { ...ada, id, companyId: company_id, passwordHash: "never shown" }));
    const { status, body, text } = await list(company_id);
    expect(status).toBe(200);
    const owner = { role: "owner", site_ids: null, label_ids: null };
    const billing = { role: "billing", site_ids: null, label_ids: null };
    const unused = { sites: null, labels: [], last_signed_in_at: null, has_second_factor: false };
    expect(body).toEqual({
      company: {
        users: [
          {
            user: {
              id: expect.any(String),
              email: admin_email,
              image: initialsImage("Owner"),
              full_name: "Owner",
              ...owner,
            },
            ...unused,
            locked_because: "This is the company's only owner. Make somebody else an owner first.",
          },
          {
            user: { id, email: ada.email, image: initialsImage("Ada Lovelace"), full_name: "Ada Lovelace", ...billing },
            ...unused,
            locked_because: null,
          },
        ],
      },
    });
    expect(text).not.toContain("never shown");
  });

  it("says when they last signed in, which sites they have, and whom the caller can't manage for which reason", async () => {
    const { current } = test;
    const siteIds = [await current.addSite({ display_name: "Zoo" }), await current.addSite({ display_name: "Bakery" })];
    const before = Date.now();
    const email = await people.add({ role: "viewer", siteIds });
    await people.signIn(email);
    const admin = await people.signIn(await people.add({ role: "admin" }));
    const seen = async (cookie: string) => {
      const { body } = await people.call(cookie, "GET", `/company/${current.company.company_id}/users`);
      const users: Listed[] = body.company.users;
      const of = (wanted: (user: Listed["user"]) => boolean) => users.find(({ user }) => wanted(user));
      return { viewer: of((user) => user.email === email), owner: of(({ role }) => role === "owner") };
    };
    const byAdmin = await seen(admin);
    expect(byAdmin.viewer?.sites.map(({ display_name }) => display_name)).toEqual(["Bakery", "Zoo"]);
    expect(Date.parse(byAdmin.viewer?.last_signed_in_at ?? "")).toBeGreaterThanOrEqual(before);
    expect(byAdmin.viewer?.locked_because).toBe(null);
    expect(byAdmin.owner?.locked_because).toBe("Only owners can manage owners.");
    const byDeveloper = await seen(await people.signIn(await people.add({ role: "developer" })));
    expect(byDeveloper.viewer?.locked_because).toBe("Only owners and admins can manage users.");
    await people.add({ role: "owner" });
    const byOwner = await list(current.company.company_id);
    expect(byOwner.body.company.users.filter((user: Listed) => user.locked_because !== null)).toEqual([]);
  });

  it("refuses other companies as if they did not exist", async () => {
    expect((await list(randomUUID())).status).toBe(404);
  });
});

describe("a user's picture", () => {
  const shown = (name: string) => />([^<>]*)<\/text>/.exec(decodeURIComponent(initialsImage(name)))?.[1];

  it.each([
    ["Ada Lovelace", "AL"],
    ["Ada King Lovelace", "AL"],
    ["Owner", "O"],
    ["élodie  ñandú", "ÉÑ"],
    ["李 小龍", "李小"],
    ["<script> &amp;", "SA"],
    ["– –", ""],
  ])("of %s has the initials %s", (name, initials) => {
    expect(shown(name)).toBe(initials);
  });
});
