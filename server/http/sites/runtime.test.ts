import { fakeCapabilities } from "@sitewright/runtimes/fake/runtime.ts";
import { expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const otherCapabilities = {
  phpVersions: ["8.2", "8.5"],
  defaultPhpVersion: "8.5",
  locales: ["en_US"],
  multisite: [],
} as const;

const test = useTestServer({
  runtimes: ["playground", "other"],
  capabilitiesOf: (runtime) => (runtime === "other" ? otherCapabilities : fakeCapabilities),
});

/** Adds a site. Returns the id of its live environment. */
async function addEnvironment(): Promise<string> {
  const { addSite, call } = test.current;
  const { body } = await call("GET", `/v2/sites/${await addSite()}`);
  return body.site.environments[0].id;
}

const move = (id: string, body: object) => test.current.call("PUT", `/v2/sites/environments/${id}/runtime`, { body });

async function inputOf(operationId: string): Promise<unknown> {
  const { database } = test.current;
  const row = await database.selectFrom("operations").select("input").where("id", "=", operationId).executeTakeFirst();
  return row?.input;
}

it("an environment's runtime is shown with all that it can move to", async () => {
  const id = await addEnvironment();
  const { status, body } = await test.current.call("GET", `/v2/sites/environments/${id}/runtime`);
  expect(status).toBe(200);
  expect(body.environment).toEqual({
    id,
    runtime: "playground",
    php_version: "8.3",
    available_runtimes: [
      { runtime: "playground", php_versions: ["8.2", "8.3", "8.4"] },
      { runtime: "other", php_versions: ["8.2", "8.5"] },
    ],
  });
});

it("a move starts an operation, with an entry in the activity log", async () => {
  const { call, company } = test.current;
  const id = await addEnvironment();
  const { status, body } = await move(id, { runtime: "other", php_version: "php8.5" });
  expect([status, body.message]).toEqual([202, "Changing the runtime of the environment in progress"]);
  expect(await inputOf(body.operation_id)).toMatchObject({ runtime: "other", phpVersion: "8.5", environment: { id } });
  const log = await call("GET", `/v2/company/${company.company_id}/activity-logs?limit=1&offset=0`);
  expect(log.body.company.activity_logs.items[0].descriptions[0]).toMatch(
    /^Move “.*” to the runtime other with PHP 8\.5$/,
  );
});

it("an unknown runtime is refused, and the error lists the known ones", async () => {
  const { status, body } = await move(await addEnvironment(), { runtime: "moon" });
  expect([status, body.message]).toEqual([
    400,
    'This installation has no runtime "moon". Available runtimes: playground, other.',
  ]);
  expect(body.data).toEqual({ code: "unknown_runtime", runtime: "moon", offered: ["playground", "other"] });
});

it.each([
  ["the current PHP version", {}, "8.3"],
  ["the chosen PHP version", { php_version: "8.4" }, "8.4"],
])("%s must exist in the new runtime", async (_, chosen, version) => {
  const { status, body } = await move(await addEnvironment(), { runtime: "other", ...chosen });
  expect([status, body.message]).toEqual([
    400,
    `The runtime other does not have PHP ${version}. Send one of its versions as php_version: 8.2, 8.5.`,
  ]);
  expect(body.data).toEqual({ code: "unknown_php_version", php_version: version, offered: ["8.2", "8.5"] });
});

it("the current runtime is accepted, and keeps the PHP version", async () => {
  const { status, body } = await move(await addEnvironment(), { runtime: "playground" });
  expect(status).toBe(202);
  expect(await inputOf(body.operation_id)).toMatchObject({ runtime: "playground", phpVersion: null });
});

it("a PHP version at its end of life needs an environment that has opted out of automatic updates", async () => {
  const id = await addEnvironment();
  const refused = await move(id, { runtime: "other", php_version: "8.2" });
  expect([refused.status, refused.body.data]).toEqual([400, { code: "php_version_ended", php_version: "8.2" }]);
  await test.current.database
    .updateTable("environments")
    .set({ is_opt_out_from_automatic_php_update: true })
    .where("id", "=", id)
    .execute();
  expect((await move(id, { runtime: "other", php_version: "8.2" })).status).toBe(202);
});

it.each([{}, { runtime: 7 }, { runtime: "" }, { runtime: "x".repeat(101) }, { runtime: "other", php_version: "new" }])(
  "%j is invalid",
  async (body) => {
    expect((await move(await addEnvironment(), body)).status).toBe(400);
  },
);
