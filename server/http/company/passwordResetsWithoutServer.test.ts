/** Lost passwords and invitations where the installation has no mail server. */
import { expect, it } from "vitest";
import { ownPage } from "../testing/people.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer({ hasMailServer: false });

it("says that the operator replaces passwords, and mails no invitation", async () => {
  const { call, company } = test.current;
  const shown = await call("GET", "/v2/sign-in-options", { key: null });
  expect(shown.body.sign_in_options.resets_passwords_by_mail).toBe(false);
  const asked = await call("POST", "/v2/password-resets", {
    body: { email: "a@example.com" },
    key: null,
    headers: ownPage,
  });
  expect([asked.status, asked.body.data]).toEqual([400, { code: "no_resets_by_mail" }]);
  expect(asked.body.message).toContain("users reset-password");
  const body = { email: "a@example.com", role: "viewer" };
  const invited = await call("POST", `/v2/company/${company.company_id}/invitations`, { body });
  expect([invited.status, invited.body.is_mailed]).toEqual([201, false]);
  expect(await test.current.database.selectFrom("account_mails").select("id").execute()).toEqual([]);
});
