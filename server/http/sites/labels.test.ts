import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { peopleOf } from "../testing/people.ts";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();
const people = peopleOf(test);

const labels = () => `/v2/company/${test.current.company.company_id}/labels`;

async function addLabel(name = `L ${randomUUID()}`): Promise<string> {
  const { status, body } = await test.current.call("POST", labels(), { body: { name } });
  expect(status).toBe(201);
  return body.label.id;
}

const assign = (label: string, body: unknown) => test.current.call("PUT", `${labels()}/${label}/sites`, { body });

/** The ids of the sites that a person sees. */
async function sitesOf(cookie: string): Promise<readonly string[]> {
  const { body } = await people.call(cookie, "GET", "/sites?include_environments=false");
  return body.company.sites.map(({ id }: { id: string }) => id);
}

async function sitesOfKey(key: string): Promise<readonly string[]> {
  const { body } = await test.current.call("GET", "/v2/sites?include_environments=false", { key });
  return body.company.sites.map(({ id }: { id: string }) => id);
}

describe("labels", () => {
  it("are listed by name, with the number of their sites", async () => {
    const site = await test.current.addSite();
    const [b, a] = [await addLabel("b Second"), await addLabel("A first")];
    await assign(b, { add: [site] });
    const { body } = await test.current.call("GET", labels());
    const own = body.labels.filter(({ id }: { id: string }) => id === a || id === b);
    expect(own).toEqual([
      { id: a, name: "A first", site_count: 0 },
      { id: b, name: "b Second", site_count: 1 },
    ]);
  });

  it("have a name that no other label of the company has, ignoring case", async () => {
    const { call, otherCompany } = test.current;
    const name = `Ünique ${randomUUID()}`;
    const id = await addLabel(name);
    const again = await call("POST", labels(), { body: { name: name.toUpperCase() } });
    expect(again.status).toBe(400);
    expect(again.body.data.code).toBe("label_name_taken");
    const renamed = await call("PUT", `${labels()}/${await addLabel()}`, { body: { name } });
    expect(renamed.body.data.code).toBe("label_name_taken");
    expect((await call("PUT", `${labels()}/${id}`, { body: { name: name.toUpperCase() } })).status).toBe(200);
    const theirs = `/v2/company/${otherCompany.company_id}/labels`;
    expect((await call("POST", theirs, { body: { name }, key: otherCompany.api_key })).status).toBe(201);
  });

  it.each([
    [{}],
    [{ name: null }],
    [{ name: 7 }],
    [{ name: "" }],
    [{ name: " " }],
    [{ name: "a\nb" }],
    [{ name: "x".repeat(51) }],
  ])("refuse the name in %j", async (body) => {
    expect((await test.current.call("POST", labels(), { body })).status).toBe(400);
    expect((await test.current.call("PUT", `${labels()}/${await addLabel()}`, { body })).status).toBe(400);
  });

  it("are shown with a hostile name as it is", async () => {
    const name = `<script>'";--${randomUUID().slice(0, 8)}`;
    const [site, id] = [await test.current.addSite(), await addLabel(name)];
    await assign(id, { add: [site] });
    expect((await test.current.call("GET", `/v2/sites/${site}`)).body.site.siteLabels).toEqual([{ id, name }]);
  });

  it("are added to and removed from several sites at once, and shown by them", async () => {
    const { addSite, call } = test.current;
    const [one, other, third] = [await addSite(), await addSite(), await addSite()];
    const [id, second] = [await addLabel("Zeta"), await addLabel("alpha")];
    await assign(second, { add: [one] });
    expect((await assign(id, { add: [one, other.toUpperCase(), one] })).body.label.site_count).toBe(2);
    const shown = async (path: string) =>
      (await call("GET", path)).body.company.sites.find((site: { id: string }) => site.id === one).siteLabels;
    const both = [
      { id: second, name: "alpha" },
      { id, name: "Zeta" },
    ];
    expect(await shown("/v2/sites")).toEqual(both);
    expect(await shown("/v2/sites?include_environments=false")).toEqual(both);
    expect((await call("GET", `/v2/sites/${one}`)).body.site.siteLabels).toEqual(both);
    expect((await assign(id, { add: [third], remove: [one] })).body.label.site_count).toBe(2);
    expect((await call("GET", `/v2/sites/${one}`)).body.site.siteLabels).toEqual([{ id: second, name: "alpha" }]);
    await call("DELETE", `${labels()}/${second}`);
    expect((await call("GET", `/v2/sites/${one}`)).body.site.siteLabels).toEqual([]);
  });

  it("refuse sites that the company does not have, and then change nothing", async () => {
    const { addSite, otherCompany } = test.current;
    const [own, foreign] = [await addSite(), await addSite({}, otherCompany.api_key)];
    const answer = await assign(await addLabel(), { add: [own, foreign] });
    expect(answer.body.data).toEqual({ code: "unknown_site", unknown: [foreign] });
    expect((await test.current.call("GET", `/v2/sites/${own}`)).body.site.siteLabels).toEqual([]);
  });

  it("filter the list of sites, together with a search", async () => {
    const { addSite, call } = test.current;
    const id = await addLabel();
    const [red] = [await addSite({ display_name: "Filtered red" }), await addSite({ display_name: "Filtered blue" })];
    const green = await addSite({ display_name: "Filtered green" });
    await assign(id, { add: [red, green] });
    const found = async (query: string) =>
      (await call("GET", `/v2/sites?${query}`)).body.company.sites.map((site: { id: string }) => site.id);
    expect(await found(`label=${id}`)).toEqual([red, green]);
    expect(await found(`label=${id}&search=green&include_environments=false`)).toEqual([green]);
    expect(await found(`label=${randomUUID()}`)).toEqual([]);
  });

  it("change the entity tag of the list when they change", async () => {
    const { addSite, call } = test.current;
    const [site, id] = [await addSite(), await addLabel()];
    const tag = async () => (await call("GET", "/v2/sites")).headers.etag;
    const before = await tag();
    await assign(id, { add: [site] });
    const labelled = await tag();
    expect(labelled).not.toBe(before);
    await call("PUT", `${labels()}/${id}`, { body: { name: randomUUID() } });
    expect(await tag()).not.toBe(labelled);
  });

  it("are back when a deleted site is restored", async () => {
    const { addSite, call, deleteSite, database } = test.current;
    const [site, id] = [await addSite(), await addLabel()];
    await assign(id, { add: [site] });
    await deleteSite(site);
    expect((await call("GET", labels())).body.labels.find((one: { id: string }) => one.id === id).site_count).toBe(0);
    expect(await database.selectFrom("site_labels").select("label_id").where("site_id", "=", site).execute()).toEqual([
      { label_id: id },
    ]);
  });

  it("are in the activity log", async () => {
    const { addSite, call, company } = test.current;
    const name = `Logged ${randomUUID()}`;
    const id = await addLabel(name);
    await assign(id, { add: [await addSite()] });
    await call("PUT", `${labels()}/${id}`, { body: { name: `${name}!` } });
    await call("DELETE", `${labels()}/${id}`);
    const log = await call("GET", `/v2/company/${company.company_id}/activity-logs?limit=20`);
    const entries = log.body.company.activity_logs.items.flatMap(({ descriptions }: { descriptions: string[] }) =>
      descriptions.filter((text) => text.includes(name)),
    );
    expect(entries).toEqual([
      `Delete the label “${name}!”`,
      `Rename a label to “${name}!”`,
      `Change which sites have the label “${name}”`,
      `Create the label “${name}”`,
    ]);
  });
});

describe("a person with labels", () => {
  it("sees exactly the sites that have one of them at the time, and those of their own", async () => {
    const { addSite, call } = test.current;
    const [own, labelled, other] = [await addSite(), await addSite(), await addSite()];
    const id = await addLabel();
    await assign(id, { add: [labelled] });
    const cookie = await people.signIn(await people.add({ role: "developer", siteIds: [own], labelIds: [id] }));
    expect(await sitesOf(cookie)).toEqual([own, labelled]);
    expect((await people.call(cookie, "GET", `/sites/${other}`)).status).toBe(404);
    await assign(id, { add: [other], remove: [labelled] });
    expect(await sitesOf(cookie)).toEqual([own, other]);
    expect((await people.call(cookie, "GET", `/sites/${labelled}`)).status).toBe(404);
    expect((await people.call(cookie, "GET", `/sites/${other}`)).status).toBe(200);
    await call("DELETE", `${labels()}/${id}`);
    expect(await sitesOf(cookie)).toEqual([own]);
  });

  it("sees only labels of these sites, and can't change any", async () => {
    const site = await test.current.addSite();
    const [id, hidden] = [await addLabel(), await addLabel()];
    await assign(id, { add: [site] });
    await assign(hidden, { add: [await test.current.addSite()] });
    const cookie = await people.signIn(await people.add({ role: "developer", siteIds: [], labelIds: [id] }));
    const path = labels().slice("/v2".length);
    const { body } = await people.call(cookie, "GET", path);
    expect(body.labels.map((label: { id: string }) => label.id)).toEqual([id]);
    for (const [method, place, sent] of [
      ["POST", path, { name: "Mine" }],
      ["PUT", `${path}/${id}`, { name: "Mine" }],
      ["PUT", `${path}/${hidden}/sites`, { add: [site] }],
      ["DELETE", `${path}/${id}`, undefined],
    ] as const) {
      expect((await people.call(cookie, method, place, { body: sent })).status).toBe(403);
    }
  });

  it("gets them with an invitation or a change, which name them", async () => {
    const { call, company, database } = test.current;
    const id = await addLabel("Named");
    const users = `/v2/company/${company.company_id}/users`;
    const email = await people.add({ role: "viewer" });
    const { id: userId } = await database
      .selectFrom("users")
      .select("id")
      .where("email", "=", email)
      .executeTakeFirstOrThrow();
    const body = { role: "viewer", site_ids: null, label_ids: [id] };
    const changed = await call("PUT", `${users}/${userId}`, { body });
    expect(changed.body.user).toMatchObject({ site_ids: [], label_ids: [id] });
    const listed = (await call("GET", users)).body.company.users.find(
      ({ user }: { user: { id: string } }) => user.id === userId,
    );
    expect(listed.labels).toEqual([{ id, name: "Named" }]);
    const refused = await call("PUT", `${users}/${userId}`, { body: { ...body, role: "admin" } });
    expect(refused.body.data.code).toBe("needs_all_sites");
    const unknown = randomUUID();
    const invitations = `/v2/company/${company.company_id}/invitations`;
    const invitation = { email: `${randomUUID()}@example.com`, role: "viewer" };
    const wrong = await call("POST", invitations, { body: { ...invitation, label_ids: [unknown] } });
    expect(wrong.body.data).toEqual({ code: "unknown_label", unknown: [unknown] });
    const invited = await call("POST", invitations, { body: { ...invitation, label_ids: [id] } });
    expect(invited.body.invitation).toMatchObject({ site_ids: [], label_ids: [id] });
    const token = invited.body.url.split("#")[1];
    const accepted = await call("POST", "/v2/invitations/accept", {
      body: { token, full_name: "Client", password: "seven purple tractors sing" },
      key: null,
    });
    expect(accepted.body.user.site_ids).toEqual([]);
  });
});

describe("a key with a label scope", () => {
  it("sees exactly the sites that have the label at the time", async () => {
    const { addKey, addSite, call } = test.current;
    const [one, other] = [await addSite(), await addSite()];
    const id = await addLabel();
    await assign(id, { add: [one] });
    const { token } = await addKey({ scopes: [`label:${id}`] });
    expect(await sitesOfKey(token)).toEqual([one]);
    expect((await call("GET", `/v2/sites/${other}`, { key: token })).status).toBe(403);
    await assign(id, { add: [other], remove: [one] });
    expect(await sitesOfKey(token)).toEqual([other]);
    await call("DELETE", `${labels()}/${id}`);
    expect(await sitesOfKey(token)).toEqual([]);
  });

  it("that can write but not manage people changes no labels, because they decide what people see", async () => {
    const { addKey, addSite, call } = test.current;
    const [id, site] = [await addLabel(), await addSite()];
    const change = async (scopes: readonly string[]) => {
      const { token } = await addKey({ scopes: [...scopes] });
      return (await call("PUT", `${labels()}/${id}/sites`, { body: { add: [site] }, key: token })).status;
    };
    expect([await change(["read", "write"]), await change(["read", "write", "users"])]).toEqual([403, 200]);
  });

  it("can't be created for an unknown label, nor label more sites", async () => {
    const { addKey, addSite, call, company } = test.current;
    const keys = `/v2/company/${company.company_id}/api-keys`;
    const unknown = randomUUID();
    const refused = await call("POST", keys, { body: { name: "x", scopes: [`label:${unknown}`] } });
    expect(refused.body.data).toEqual({ code: "unknown_label", unknown: [unknown] });
    const id = await addLabel();
    const { token } = await addKey({ scopes: [`label:${id}`] });
    const widened = await call("PUT", `${labels()}/${id}/sites`, { body: { add: [await addSite()] }, key: token });
    expect(widened.status).toBe(403);
  });
});
