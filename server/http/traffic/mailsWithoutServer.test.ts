import { expect, it } from "vitest";
import { addMail } from "../../store/testing/rows.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer({ hasMailServer: false });

it("without a mail server, sending a mail is refused with the setting's name", async () => {
  const { addSiteWithEnvironment, call, database } = test.current;
  const { id } = await addSiteWithEnvironment();
  const mailId = await addMail(database, id);
  const path = `/v2/sites/environments/${id}/mails`;
  const { status, body } = await call("POST", `${path}/${mailId}/deliver`);
  expect([status, body.data.code]).toEqual([400, "no_mail_server"]);
  expect(body.message).toContain("SITEWRIGHT_SMTP_URL");
  expect((await call("GET", path)).body.environment).toMatchObject({
    delivery: "keep",
    effective_delivery: "keep",
    has_mail_server: false,
    mails: { items: [{ state: "kept" }] },
  });
});

it("without a mail server, mail is kept even if the setting is to send it", async () => {
  const { addSiteWithEnvironment, call } = test.current;
  const { liveId } = await addSiteWithEnvironment();
  const path = `/v2/sites/environments/${liveId}/mail`;
  const kept = { delivery: "send", effective_delivery: "keep" };
  expect((await call("GET", `${path}s`)).body.environment).toMatchObject(kept);
  expect((await call("PUT", path, { body: { delivery: "send" } })).body.environment).toMatchObject(kept);
});
