import { randomUUID } from "node:crypto";
import { initialsImage } from "@sitewright/server/app/company/users.ts";
import { insertUser } from "@sitewright/server/store/company/users.ts";
import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
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
    const owner = { role: "owner", site_ids: null };
    const billing = { role: "billing", site_ids: null };
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
          },
          {
            user: { id, email: ada.email, image: initialsImage("Ada Lovelace"), full_name: "Ada Lovelace", ...billing },
          },
        ],
      },
    });
    expect(text).not.toContain("never shown");
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
