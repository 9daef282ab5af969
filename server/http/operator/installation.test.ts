import { expect, it } from "vitest";
import { setOperator } from "../../store/company/users.ts";
import { peopleOf } from "../testing/people.ts";
import { useTestServer } from "../testing/server.ts";

const path = "/operator/installation";
const problem = { level: "problem", text: "Disk: full." } as const;
const test = useTestServer({
  installation: {
    version: "1.2.3",
    examine: async () => ({ findings: [problem], at: new Date(0) }),
    dnsAnswers: async () => true,
  },
});
const people = peopleOf(test);

it("shows operators the state of the installation", async () => {
  const site = await test.current.addSite();
  await test.current.addBackup((await test.current.call("GET", `/v2/sites/${site}`)).body.site.environments[0].id);
  const cookie = await people.signIn(await people.add({ role: "viewer", isOperator: true }));
  expect((await people.call(cookie, "GET", "/session")).body.is_operator).toBe(true);
  const { status, body } = await people.call(cookie, "GET", path);
  expect(status).toBe(200);
  expect(body.installation).toMatchObject({
    versions: { sitewright: "1.2.3", node: process.versions.node },
    processes: [
      { name: "control", answers: true },
      { name: "edge", answers: false },
      { name: "dns", answers: true },
      { name: "database", answers: true },
    ],
    workers: null,
    content: { companies: 2, sites: 1, environments: 1 },
    archives: { backups: 1, damaged: 0 },
    findings: [problem],
    findings_at: "1970-01-01T00:00:00.000Z",
  });
  expect(body.installation.disk.free_bytes).toBeGreaterThan(0);
});

it.each(["owner", "admin", "developer", "billing", "viewer"] as const)(
  "does not exist for a company's %s who is no operator",
  async (role) => {
    const cookie = await people.signIn(await people.add({ role }));
    expect((await people.call(cookie, "GET", "/session")).body.is_operator).toBe(false);
    expect((await people.call(cookie, "GET", path)).status).toBe(404);
  },
);

it("is refused until a password that must be changed has been", async () => {
  const cookie = await people.signIn(await people.add({ isOperator: true, mustChange: true }));
  const { status, body } = await people.call(cookie, "GET", path);
  expect([status, body.data.code]).toEqual([403, "password_change_required"]);
});

it("is refused to API keys, also to those of an operator", async () => {
  expect((await test.current.call("GET", `/v2${path}`)).status).toBe(403);
});

it("is hidden as soon as somebody is no operator any more", async () => {
  const { database } = test.current;
  const email = await people.add({ isOperator: true });
  const cookie = await people.signIn(email);
  expect((await people.call(cookie, "GET", path)).status).toBe(200);
  const { id } = await database.selectFrom("users").select("id").where("email", "=", email).executeTakeFirstOrThrow();
  await database.transaction().execute((transaction) => setOperator(transaction, id, false));
  test.current.identities.forgetKeys();
  expect((await people.call(cookie, "GET", path)).status).toBe(404);
});
